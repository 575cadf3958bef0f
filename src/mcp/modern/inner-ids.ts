import type { JSONRPCMessage, JSONRPCRequest, RequestId } from '@modelcontextprotocol/server';
import { isId } from '../../collections/exact-json.ts';
import type { Message } from '../reading/frames.ts';

/** The progress token a request has, if it is one at all: a string or a number (C6-03). */
export function progressTokenOf({ params }: Message): RequestId | undefined {
  const token = (params?._meta as Record<string, unknown> | undefined)?.progressToken;
  return isId(token) ? token : undefined;
}

/**
 * Returns the request another id, which is its progress token as well, if it has one. What else a client wrote beside
 * the members of a request stays behind: the SDK's servers drop such a message without a word.
 * @param id unique among all requests of the server it is for (T-127)
 */
export function withIds(request: Message, id: number): JSONRPCMessage {
  const { method, params } = request;
  const inner = { jsonrpc: '2.0', id, method } as Pick<JSONRPCRequest, 'jsonrpc' | 'id' | 'method'>;
  if (params === undefined) return inner;
  const { progressToken, ...meta } = (params._meta ?? {}) as Record<string, unknown>;
  if (progressToken === undefined) return { ...inner, params };
  const hasToken = progressTokenOf(request) !== undefined;
  return { ...inner, params: { ...params, _meta: hasToken ? { ...meta, progressToken: id } : meta } };
}
