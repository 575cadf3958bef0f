import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import {
  type Answer,
  type Backend,
  type Caller,
  type Discovery,
  isRecord,
  type McpLike,
  modernRevision,
  type RequestMessage,
} from '../protocol.ts';
import { anyCapabilities } from '../sdk/negotiation.ts';
import { withoutPatience } from '../upstreams/upstream.ts';

/** Writes a request of our own, with the `_meta` that every request of 2026-07-28 has (C3-01). */
export function internalRequest(method: string, params: Record<string, unknown>): RequestMessage {
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: modernRevision,
    [CLIENT_CAPABILITIES_META_KEY]: anyCapabilities,
  };
  return { jsonrpc: '2.0', id: 0, method, params: { ...params, _meta } };
}

/** Maximum time for a request of Gatehouse itself, in milliseconds: a client waits meanwhile. */
const patienceMs = 10_000;

const unanswered: Answer = {
  status: 500,
  error: { code: errorCodes.internalError, message: 'The MCP server did not answer in time.' },
};

/**
 * Asks a server something for ourselves, as the caller who made us ask, whose person is not waited for. What is not
 * answered within ten seconds is cancelled, and answered with an error.
 * @param begin see {@link Backend.begin}
 */
export function internalCall(
  begin: Backend['begin'],
  method: string,
  params: Record<string, unknown>,
  asking: Caller,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const request = internalRequest(method, params);
  const caller = { ...asking, authInfo: withoutPatience(asking.authInfo) };
  const cancel = begin({ request, caller, notify: () => {}, answer: resolve });
  const timer = setTimeout(() => {
    cancel();
    resolve(unanswered);
  }, patienceMs).unref();
  return promise.finally(() => clearTimeout(timer));
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
    serverInfo: meta?.[SERVER_INFO_META_KEY],
  };
}

/** Most pages of a list that are read. */
const maxPages = 100;

/** The tools of a server, as one caller sees them. */
export interface ToolList {
  tools: readonly Record<string, unknown>[];
  /** True if the server answered for every page. */
  isWhole: boolean;
  /** The server that answered, if one is known. */
  by?: McpLike;
}

/**
 * Reads every page of a server's `tools/list` on behalf of the gate. The list ends at a cursor that was named before.
 * @param begin see {@link Backend.begin}
 * @param caller whose view it is
 */
export async function readToolList(begin: Backend['begin'], caller: Caller): Promise<ToolList> {
  const tools: Record<string, unknown>[] = [];
  const cursors = new Set<unknown>();
  let by: McpLike | undefined;
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await internalCall(begin, 'tools/list', params, caller);
    by = answer.by ?? by;
    const server = by ? { by } : {};
    // A server without tools knows no such method: that is as good as an empty list.
    if (!Array.isArray(answer.result?.tools))
      return { tools, isWhole: answer.error?.code === errorCodes.methodNotFound, ...server };
    tools.push(...answer.result.tools.filter(isRecord));
    cursor = answer.result.nextCursor;
    // A server that names a cursor again has no more pages.
    if (cursor === undefined || cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  return { tools, isWhole: true, ...(by ? { by } : {}) };
}
