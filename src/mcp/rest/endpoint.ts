import { checkAccept } from '../http/dispatch.ts';
import type { Serve } from '../http/exchange.ts';
import { isRefusal, type Refusal } from '../http/refusal.ts';
import {
  checkStatelessPost,
  createStatelessCalls,
  revisionOf,
  type StatelessTransportOptions,
  senderOf,
} from '../legacy/stateless.ts';

/** Default of the maximum wait for responses, in milliseconds (B7-09). */
export const defaultRestTimeoutMs = 30_000;

const shortConnection = { Connection: 'close' };

/**
 * Creates the Rest transport: a POST holds one message or up to 100, and is answered once, with JSON, when all its
 * requests are. There are no sessions and no streams, and the connection ends with the answer.
 * @see docs/rest.md (B7-01, B7-07, B7-08, B7-09)
 */
export function createRestTransport(options: StatelessTransportOptions): Serve {
  const { url } = options;
  const answer = createStatelessCalls({ ...options, timeoutMs: options.timeoutMs ?? defaultRestTimeoutMs });

  return async (exchange, posted) => {
    if (!posted) return checkRestMethod(exchange.method) ?? onlyPost;
    const protocolVersion = revisionOf(exchange);
    if (typeof protocolVersion !== 'string') return closingConnection(protocolVersion);
    const refusal = checkStatelessPost(posted);
    if (refusal) return closingConnection(refusal);

    const { reply } = exchange;
    const { messages } = posted;
    const onGone = reply.onClose.bind(reply);
    const sender = senderOf(exchange, url);
    const park = reply.park.bind(reply);
    const answers = await answer({ messages, protocolVersion, sender, onGone, park, calls: exchange.calls });
    if (isRefusal(answers)) return closingConnection(answers);
    const told = exchange.calls ? await exchange.calls.answerAll(answers) : answers;
    if (reply.isClosed) return undefined;
    const body = restBody(told);
    if (body === undefined) reply.empty(202, shortConnection);
    else reply.json(200, body, shortConnection);
    return undefined;
  };
}

/**
 * Returns the body of an answer: one answer as it is, several as an array (B7-08).
 * @returns undefined if there is nothing to answer, for 202
 */
export function restBody<T>(answers: readonly T[]): T | readonly T[] | undefined {
  return answers.length > 1 ? answers : answers[0];
}

const onlyPost: Refusal = { reason: 'method_not_allowed', headers: { Allow: 'POST', ...shortConnection } };

/** Checks the HTTP method: POST alone (B7-03). */
export function checkRestMethod(method: string): Refusal | undefined {
  return method === 'POST' ? undefined : onlyPost;
}

/**
 * Checks that the client takes JSON. Wildcards count, and no `Accept` at all takes everything; event streams need not
 * be taken (B7-04).
 * @param accept the `Accept` header
 */
export function checkRestAccept(accept: string | undefined): Refusal | undefined {
  return acceptsJson(accept) ? undefined : { reason: 'json_not_acceptable', headers: shortConnection };
}

/** Returns true if an `Accept` header takes JSON, whatever it says of event streams. */
export function acceptsJson(accept: string | undefined): boolean {
  return accept === undefined || checkAccept('POST', `${accept}, text/event-stream`) === undefined;
}

/** Ends the connection after a rejection, as after every response (B7-01). */
export function closingConnection(refusal: Refusal): Refusal {
  return { ...refusal, headers: { ...refusal.headers, ...shortConnection } };
}
