import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { Message } from '../checks/messages.ts';

/** The progress token a request has, where it is one at all: a string or a number (C6-03). */
export function progressTokenOf({ params }: Message): RequestId | undefined {
  const token = (params?._meta as Record<string, unknown> | undefined)?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/**
 * Gives the request another id, which is its progress token as well, where it has one.
 * @param id unique among all requests of the server it is for (T-127)
 */
export function withIds(request: Message, id: number): JSONRPCMessage {
  const { params } = request;
  if (progressTokenOf(request) === undefined) return { ...request, id } as JSONRPCMessage;
  const _meta = { ...(params?._meta as Record<string, unknown>), progressToken: id };
  return { ...request, id, params: { ...params, _meta } } as JSONRPCMessage;
}
