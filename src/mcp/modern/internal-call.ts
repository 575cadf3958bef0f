import type { RequestMessage } from '../checks/messages.ts';
import type { Answer, Backend, Caller, Discovery } from './backend.ts';
import { modernRevision } from './envelope.ts';

/** Writes a request of our own, with the `_meta` that every request of 2026-07-28 has (C3-01). */
export function internalRequest(method: string, params: Record<string, unknown>): RequestMessage {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': modernRevision,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id: 0, method, params: { ...params, _meta } };
}

/**
 * Asks a server something for ourselves, as the caller who made us ask.
 * @param begin see {@link Backend.begin}
 */
export function internalCall(
  begin: Backend['begin'],
  method: string,
  params: Record<string, unknown>,
  caller: Caller,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  begin({ request: internalRequest(method, params), caller, notify: () => {}, answer: resolve });
  return promise;
}

/**
 * Asks a server what it can do.
 * @param begin see {@link Backend.begin}
 */
export async function discoverBy(begin: Backend['begin'], caller: Caller): Promise<Discovery> {
  const { result = {} } = await internalCall(begin, 'server/discover', {}, caller);
  const meta = result._meta as Record<string, unknown> | undefined;
  return {
    capabilities: (result.capabilities ?? {}) as Record<string, unknown>,
    serverInfo: meta?.['io.modelcontextprotocol/serverInfo'],
  };
}
