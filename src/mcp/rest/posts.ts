import type { MessageExtraInfo, RequestId } from '@modelcontextprotocol/server';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { Deadlines } from '../http/limits.ts';
import { CollectedAnswers, errorAnswer } from '../legacy/collected-answers.ts';
import type { Frames, JsonRpcError, Message } from '../protocol.ts';

/** A POST that is being answered. */
interface Post {
  answers: CollectedAnswers;
  /** Ids of the client -> ids at the server, of the running requests. */
  running: Map<RequestId, RequestId>;
  /** Ends it with the collected responses. */
  finish(): void;
}

/** The answers to a POST, and whether the time limit made some of them. */
export interface PostAnswers {
  answers: Message[];
  timedOut: boolean;
}

const timedOut: JsonRpcError = {
  code: -32001,
  message: 'The MCP server did not answer in time. The call may still have had its effect.',
};
const serverClosed: JsonRpcError = {
  code: errorCodes.internalError,
  message: 'The MCP server was closed before it answered.',
};
const noBackChannel: JsonRpcError = {
  code: errorCodes.methodNotFound,
  message: 'The Rest transport has no back channel: the client cannot be asked anything.',
};

/**
 * The POSTs that one MCP server serves in parallel. The server sees unique ids of Gatehouse, so that clients that
 * choose the same ones never get each other's answers, nor cancel each other's calls (B7-13, T-127, T-141).
 */
export class RestPosts {
  readonly #deadlines: Deadlines;
  readonly #say: (message: Message, extra: MessageExtraInfo) => void;
  /** Id at the server -> the request of the client. */
  readonly #waiting = new InFlightMap<RequestId, { post: Post; id: RequestId }>();
  #lastId = 0;

  /**
   * @param timeoutMs longest wait for the answers to one POST, in milliseconds
   * @param say sends the server a message
   */
  constructor(timeoutMs: number, say: (message: Message, extra: MessageExtraInfo) => void) {
    this.#deadlines = new Deadlines(timeoutMs);
    this.#say = say;
  }

  /** Number of running requests. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Hands the server the messages of a POST and waits for its answers.
   * @param extra the sender, for the server
   * @param onGone calls back once when nobody waits for the answers any more
   */
  answer(
    { list, requests }: Frames,
    extra: MessageExtraInfo,
    onGone: (callback: () => void) => void,
  ): Promise<PostAnswers> {
    return new Promise((resolve) => {
      const answers = new CollectedAnswers(requests);
      const running = new Map<RequestId, RequestId>();
      let isLate = false;
      const finish = (): void => {
        forgetDeadline();
        this.#cancel(running);
        resolve({ answers: answers.list(), timedOut: isLate });
      };
      const forgetDeadline = this.#deadlines.set(() => {
        isLate = true;
        answers.fail(timedOut);
        finish();
      });
      onGone(finish);
      const post = { answers, running, finish };
      for (const message of list) {
        const rewritten = this.#rewrite(message, post);
        if (rewritten) this.#say(rewritten, extra);
      }
      if (answers.isComplete) finish();
    });
  }

  /** Handles the server's messages: passes on responses, rejects requests, drops notifications. */
  hear(message: Message): void {
    const { id, method } = message;
    if (id === undefined) return;
    if (method !== undefined) {
      queueMicrotask(() => this.#say(errorAnswer(id, noBackChannel), {}));
      return;
    }
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    const { post } = waiting;
    this.#waiting.delete(id);
    post.running.delete(waiting.id);
    post.answers.take({ ...message, id: waiting.id });
    if (post.answers.isComplete) post.finish();
  }

  /** Answers all that runs with an error. */
  endAll(): void {
    for (const { post } of this.#waiting.values()) {
      post.answers.fail(serverClosed);
      post.finish();
    }
  }

  /** Returns a message the id the server is to see; undefined for one that means nothing here. */
  #rewrite(message: Message, post: Post): Message | undefined {
    const { id, method, params } = message;
    if (method === undefined) return undefined;
    if (id !== undefined) {
      const internal = `rest-${++this.#lastId}`;
      this.#waiting.set(internal, { post, id });
      post.running.set(id, internal);
      return { ...message, id: internal };
    }
    if (method !== 'notifications/cancelled') return message;
    const cancelled = params?.requestId as RequestId;
    const internal = post.running.get(cancelled);
    if (internal === undefined) return undefined;
    this.#waiting.delete(internal);
    post.running.delete(cancelled);
    post.answers.drop(cancelled);
    return { ...message, params: { ...params, requestId: internal } };
  }

  /** Cancels what still runs though nobody waits for it, and keeps nothing of it. */
  #cancel(running: Map<RequestId, RequestId>): void {
    for (const requestId of running.values()) {
      this.#waiting.delete(requestId);
      const params = { requestId, reason: 'Nobody waits for the answer any more.' };
      this.#say({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, {});
    }
    running.clear();
  }
}
