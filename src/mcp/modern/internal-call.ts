import {
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { withoutNotes } from '../calls.ts';
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

/** Creates a request of Gatehouse itself, with the required `_meta` of 2026-07-28 (C3-01). */
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
 * Sends a server a request of Gatehouse itself, on behalf of a caller. It does not wait for the user to link accounts.
 * A request without a response within ten seconds is cancelled, and returns an error.
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
  const cancel = withoutNotes(() => begin({ request, caller, notify: () => {}, answer: resolve }));
  const timer = setTimeout(() => {
    cancel();
    resolve(unanswered);
  }, patienceMs).unref();
  return promise.finally(() => clearTimeout(timer));
}

/**
 * Sends a server `server/discover`.
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

/** Maximum number of pages of a list. */
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
 * @param caller the caller whose view is read
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
    // A server without tools does not know the method: the same as an empty list.
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
