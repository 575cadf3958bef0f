import { methodNotFound } from '../../mcp/building-blocks.ts';
import type { JsonRpcError, RequestMessage } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

const resourceMethods = new Set(['resources/read', 'resources/subscribe', 'resources/unsubscribe']);
const namingMethods = new Set(['tools/call', 'prompts/get', 'completion/complete']);

/**
 * The error for a request that is for none of several backends: it says how their names begin.
 * @param keys those of the backends there are
 * @see MCP 2025-11-25 resources "Error Handling"
 */
export function unknownName(
  { method, params = {} }: Pick<RequestMessage, 'method' | 'params'>,
  keys: readonly string[],
): JsonRpcError {
  const { uri, name } = params;
  const known = keys.join(', ');
  if (resourceMethods.has(method))
    return {
      code: errorCodes.resourceNotFound,
      message: `Resource not found: URIs begin with the backend they are of (${known}) and +.`,
      data: { uri },
    };
  if (!namingMethods.has(method)) return methodNotFound;
  const what = typeof name === 'string' ? `${name} is not found` : 'It is not found';
  return {
    code: errorCodes.invalidParams,
    message: `${what}: names begin with the backend they are of (${known}) and _; URIs with + in its place.`,
  };
}
