import type { RequestId } from '@modelcontextprotocol/server';
import type { JsonRpcError, Message, Sender } from '../../mcp/protocol.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { Answer } from '../steps/step.ts';
import type { Member } from './member.ts';

/** A request to a backend. */
export interface Question {
  /** Id of the request of the client it belongs to. */
  of: RequestId;
  method: string;
  params: Record<string, unknown>;
}

/** Reason why a response is no longer waited for. */
export interface GivingUp {
  /** The response that is used instead. */
  error: JsonRpcError;
  sender: Sender;
  /** Only what this backend was asked; what all were, without it. */
  member?: Member;
  /** The client's reason. */
  reason?: unknown;
}

/** A request that a backend has not answered. */
interface Pending {
  member: Member;
  of: RequestId;
  take(answer: Answer): void;
}

/**
 * Requests to several backends on behalf of one client, without a response so far. Each has an id of its own, since one
 * request of the client may be a request to each of them (T-127).
 */
export class OpenQuestions {
  readonly #pending = new Map<RequestId, Pending>();
  #lastId = 0;

  /** Asks a backend; the answer comes when it has answered, is waited for no longer, or has ended. */
  ask(member: Member, { of, method, params }: Question, sender: Sender): Promise<Answer> {
    return new Promise((take) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { member, of, take });
      member.say({ jsonrpc: '2.0', id, method, params }, sender);
    });
  }

  /** Asks a backend for something of which nobody needs to hear. */
  tell(member: Member, { method, params }: Omit<Question, 'of'>, sender: Sender): void {
    member.say({ jsonrpc: '2.0', id: ++this.#lastId, method, params }, sender);
  }

  /** Takes an answer of a backend; what it was not asked is nothing (T-160). */
  answered(member: Member, message: Message): void {
    const id = message.id as RequestId;
    const pending = this.#pending.get(id);
    if (pending?.member !== member) return;
    this.#pending.delete(id);
    const { result, error } = message as Message & Answer;
    pending.take(error ? { error } : { result: result ?? {} });
  }

  /** The request of the client a question belongs to; undefined if it is no open question. */
  requestOf(id: RequestId): RequestId | undefined {
    return this.#pending.get(id)?.of;
  }

  /** Waits no longer for what belongs to a request of the client, and tells those who were to answer. */
  giveUp(of: RequestId, { error, sender, member, reason }: GivingUp): void {
    for (const [requestId, pending] of [...this.#pending]) {
      if (pending.of !== of || (member && pending.member !== member)) continue;
      this.#pending.delete(requestId);
      const params = { requestId, ...(typeof reason === 'string' && { reason }) };
      pending.member.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, sender);
      pending.take({ error });
    }
  }

  /** A backend has ended: it answers nothing any more. */
  ended(member: Member): void {
    const error = backendError('backend_ended', member.backend.name);
    for (const [id, pending] of [...this.#pending])
      if (pending.member === member) {
        this.#pending.delete(id);
        pending.take({ error });
      }
  }
}
