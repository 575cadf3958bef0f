import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { isRecord } from '../reading/record.ts';
import type { McpLike } from '../sdk/server-source.ts';
import type { Backend, Caller } from './backend.ts';
import { internalCall } from './internal-call.ts';

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
