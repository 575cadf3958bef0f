import type { RequestId } from '@modelcontextprotocol/server';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Deadlines } from '../http/deadlines.ts';
import { type Exchange, toWebRequest } from '../http/exchange.ts';
import type { Sender } from '../protocol.ts';
import type { Message, RequestMessage } from '../reading/frames.ts';
import { heldBytesError } from '../sdk/json-rpc-errors.ts';
import type { SessionStream } from './session-stream.ts';
import type { SessionStreams } from './session-streams.ts';

/** The key of a request on a stream, in which the ids 1 and "1" differ. */
function keyOf(id: RequestId): string {
  return JSON.stringify(id);
}

const sessionEnded = {
  code: -32000,
  message: 'The session ended while this call ran. It may have taken effect; check before calling again.',
};

/**
 * A POST of a session whose requests wait for answers. Answers that come soon and alone go out as JSON; a message
 * before them, or a long wait, makes it a stream that can be resumed (B3-04, B3-05). It is the sender of its messages.
 */
export class Post implements Sender {
  readonly #exchange: Exchange;
  readonly #url: URL;
  readonly #streams: SessionStreams;
  readonly #isBatch: boolean;
  readonly #waiting: Map<RequestId, RequestMessage>;
  #answers: Message[] = [];
  /** End the counting of answers that wait for the others. */
  #releases: (() => void)[] = [];
  #stream: SessionStream | undefined;
  #forgetLate: (() => void) | undefined;

  /**
   * @param url the endpoint's public URL
   * @param waiting its requests, by their ids
   */
  constructor(
    exchange: Exchange,
    url: URL,
    streams: SessionStreams,
    isBatch: boolean,
    waiting: Map<RequestId, RequestMessage>,
  ) {
    this.#exchange = exchange;
    this.#url = url;
    this.#streams = streams;
    this.#isBatch = isBatch;
    this.#waiting = waiting;
  }

  get authInfo(): AuthInfo {
    return this.#exchange.authInfo;
  }

  request(): Request {
    return toWebRequest(this.#exchange, this.#url);
  }

  // Handlers are given these by themselves, without the object they belong to.
  closeSSEStream = (): void => {
    if (this.#waiting.size > 0) this.#openStream().release();
  };
  closeStandaloneSSEStream = (): void => this.#streams.release();

  /** Becomes a stream after a while, so that the connection of a long call is kept alive and can be resumed. */
  streamWhenLate(late: Deadlines): void {
    if (this.#waiting.size === 0 || this.#stream) return;
    this.#forgetLate = late.set(() => this.#openStream());
  }

  /** The request of an id, as long as it waits. */
  requestOf(id: RequestId): RequestMessage | undefined {
    return this.#waiting.get(id);
  }

  /** Sends a message that comes before an answer. */
  tell(message: Message): void {
    this.#openStream().write(message);
  }

  /** Sends an answer; with the last one the POST is answered. */
  answer(id: RequestId, message: Message): void {
    this.#waiting.delete(id);
    if (this.#stream) this.#stream.write(message, keyOf(id));
    else this.#answers.push(this.#waiting.size > 0 ? this.#park(message) : message);
    this.#endWhenNothingWaits();
  }

  /** Abandons a request that its sender cancelled; no response is sent (T-141). */
  forget(id: RequestId): void {
    this.#waiting.delete(id);
    this.#stream?.owe([...this.#waiting.keys()].map(keyOf));
    this.#endWhenNothingWaits();
  }

  /**
   * Ends it before its time. A stream just breaks off, because it may be resumed; who waits for JSON is told.
   */
  abandon(): void {
    if (!this.#stream)
      for (const { id } of this.#waiting.values())
        this.#answers.push({ jsonrpc: '2.0', id, error: sessionEnded } as Message);
    this.#waiting.clear();
    this.#endWhenNothingWaits();
  }

  /** Counts an answer that waits for the others. @returns what is sent: without room, an error */
  #park(message: Message): Message {
    const release = this.#exchange.reply.park(message);
    if (!release) return heldBytesError(message) as Message;
    this.#releases.push(release);
    return message;
  }

  #release(): void {
    for (const release of this.#releases) release();
    this.#releases = [];
  }

  #endWhenNothingWaits(): void {
    if (this.#waiting.size > 0) return;
    this.#release();
    this.#forgetLate?.();
    const { reply } = this.#exchange;
    if (this.#stream) this.#streams.finish(this.#stream);
    else if (reply.isClosed) return;
    else if (this.#answers.length === 0) reply.empty(202);
    else reply.json(200, this.#isBatch ? this.#answers : this.#answers[0]);
  }

  #openStream(): SessionStream {
    if (this.#stream) return this.#stream;
    this.#forgetLate?.();
    const answered = this.#answers.map((message) => ({ message, key: keyOf(message.id as RequestId) }));
    this.#answers = [];
    this.#release();
    this.#stream = this.#streams.begin(this.#exchange, [
      ...answered.map(({ key }) => key),
      ...[...this.#waiting.keys()].map(keyOf),
    ]);
    for (const { message, key } of answered) this.#stream.write(message, key);
    return this.#stream;
  }
}
