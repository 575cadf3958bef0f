import type { RequestId } from '@modelcontextprotocol/server';
import type { JsonRpcError, Message, Sender } from '../../mcp/protocol.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { Answer } from '../steps/step.ts';
import type { Member } from './member.ts';

/** A request to a backend. */
export interface Question {
  /** Id of the client's request that it belongs to. */
  of: RequestId;
  method: string;
  params: Record<string, unknown>;
}

/** Reason why a response is not awaited any more. */
interface GivingUp {
  /** The error that is used in place of the response. */
  error: JsonRpcError;
  sender: Sender;
  /** Only the requests to this backend; those to all if absent. */
  member?: Member;
  /** The reason that the client gave. */
  reason?: unknown;
}

/** A running request to a backend. */
interface Pending {
  member: Member;
  of: RequestId;
  take(answer: Answer): void;
}

/**
 * Running requests to several backends for one client. Each has its own id, because one request of the client may
 * become a request to each of them (T-127).
 */
export class OpenQuestions {
  readonly #pending = new Map<RequestId, Pending>();
  #lastId = 0;

  /** Sends a request; resolves with the response, or with an error if it is given up or the backend has ended. */
  ask(member: Member, { of, method, params }: Question, sender: Sender): Promise<Answer> {
    return new Promise((take) => {
      const id = ++this.#lastId;
      this.#pending.set(id, { member, of, take });
      member.say({ jsonrpc: '2.0', id, method, params }, sender);
    });
  }

  /** Sends a request whose response nobody needs. */
  tell(member: Member, { method, params }: Omit<Question, 'of'>, sender: Sender): void {
    member.say({ jsonrpc: '2.0', id: ++this.#lastId, method, params }, sender);
  }

  /** Takes a response of a backend; one without a request is ignored (T-160). */
  answered(member: Member, message: Message): void {
    const id = message.id as RequestId;
    const pending = this.#pending.get(id);
    if (pending?.member !== member) return;
    this.#pending.delete(id);
    const { result, error } = message as Message & Answer;
    pending.take(error ? { error } : { result: result ?? {} });
  }

  /** Returns the id of the client's request that a running request belongs to. */
  requestOf(id: RequestId): RequestId | undefined {
    return this.#pending.get(id)?.of;
  }

  /** Gives up the requests that belong to a request of the client, and cancels them at the backends. */
  giveUp(of: RequestId, { error, sender, member, reason }: GivingUp): void {
    for (const [requestId, pending] of [...this.#pending]) {
      if (pending.of !== of || (member && pending.member !== member)) continue;
      this.#pending.delete(requestId);
      const params = { requestId, ...(typeof reason === 'string' && { reason }) };
      pending.member.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, sender);
      pending.take({ error });
    }
  }

  /** A backend has ended: gives up its requests. */
  ended(member: Member): void {
    const error = backendError('backend_ended', member.backend.name);
    for (const [id, pending] of [...this.#pending])
      if (pending.member === member) {
        this.#pending.delete(id);
        pending.take({ error });
      }
  }
}
