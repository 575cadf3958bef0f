import { DEFAULT_NEGOTIATED_PROTOCOL_VERSION } from '@modelcontextprotocol/server';
import { legacyRevisions, revisionWithBatches } from '../http/era.ts';
import { type Exchange, toWebRequest } from '../http/exchange.ts';
import { headerOf } from '../http/headers.ts';
import { isRefusal, type Refusal } from '../http/refusal.ts';
import type { Posted, Serve } from '../http/transport.ts';
import { readInitialize } from '../reading/initialize.ts';
import { hasRepeatedId } from './collected-answers.ts';
import { createStatelessCalls, type StatelessCall, type StatelessCallsOptions } from './stateless-calls.ts';

/** Options of a transport without sessions: this one, and Rest. */
export interface StatelessTransportOptions extends Omit<StatelessCallsOptions, 'timeoutMs'> {
  /** The endpoint's public URL. */
  url: URL;
  /** Longest wait for the answers to one POST, in milliseconds; here a minute by default, as the SDK's clients wait. */
  timeoutMs?: number;
}

const defaultTimeoutMs = 60_000;

const onlyPost: Refusal = { reason: 'method_not_allowed', headers: { Allow: 'POST' } };

/**
 * Creates streamable HTTP of the revisions up to 2025-11-25 without sessions, for operators who want no state:
 * `initialize` is answered without `Mcp-Session-Id`, every POST is answered with JSON, GET and DELETE are not served.
 * @see MCP 2025-11-25 transports "Streamable HTTP" (B3-03, B3-07, B3-10, B3-13, B3-14, B3-17)
 */
export function createStatelessTransport(options: StatelessTransportOptions): Serve {
  const answer = createStatelessCalls({ ...options, timeoutMs: options.timeoutMs ?? defaultTimeoutMs });

  return async (exchange, posted) => {
    if (!posted) return onlyPost;
    const protocolVersion = revisionOf(exchange);
    if (typeof protocolVersion !== 'string') return protocolVersion;
    const { messages } = posted;
    if (messages.isBatch && protocolVersion !== revisionWithBatches)
      return { reason: 'batch_not_in_this_revision' };
    const refusal = checkStatelessPost(posted);
    if (refusal) return refusal;

    const { reply } = exchange;
    const onGone = reply.onClose.bind(reply);
    const sender = senderOf(exchange, options.url);
    const park = reply.park.bind(reply);
    const answers = await answer({ messages, protocolVersion, sender, onGone, park });
    if (isRefusal(answers)) return answers;
    if (reply.isClosed) return undefined;
    if (answers.length === 0) reply.empty(202);
    else reply.json(200, messages.isBatch ? answers : answers[0]);
    return undefined;
  };
}

/**
 * Reads the revision of a request that belongs to no session.
 * @returns what `MCP-Protocol-Version` names; without it 2025-03-26, the newest that did not send it (B3-17)
 */
export function revisionOf({ headers }: Exchange): string | Refusal {
  const header = headerOf(headers, 'mcp-protocol-version');
  const named = header === undefined ? DEFAULT_NEGOTIATED_PROTOCOL_VERSION : String(header).trim();
  if (legacyRevisions.includes(named)) return named;
  return {
    reason: 'protocol_version_unknown',
    data: { supported: legacyRevisions, requested: named.slice(0, 100) },
  };
}

/** Checks what must be right in a body whatever the revision: a whole `initialize`, ids that differ (T-142). */
export function checkStatelessPost({ messages: { isBatch, requests } }: Posted): Refusal | undefined {
  const [first] = requests;
  if (first?.method === 'initialize' && !readInitialize(first))
    return { reason: 'initialize_incomplete', ...(isBatch ? {} : { id: first.id }) };
  return hasRepeatedId(requests) ? { reason: 'request_id_in_use' } : undefined;
}

/** Returns the sender of an exchange's messages; the request itself is built when a tool reads it. */
export function senderOf(exchange: Exchange, url: URL): StatelessCall['sender'] {
  return { authInfo: exchange.authInfo, request: () => toWebRequest(exchange, url) };
}
