import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import {
  type Answer,
  type InitializeResult,
  type JsonRpcError,
  modernRevision,
  type RequestMessage,
} from '../protocol.ts';

/** Methods whose results say how long they may be kept (C6-07). */
const cached = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/**
 * Converts the result of a server of an older revision to the form of 2026-07-28: with `resultType`, server info, and no
 * caching unless the server allows it.
 * @see MCP 2026-07-28 schema `Result`, "Caching" (C1-04, C3-04, C6-07)
 */
export function modernResult(
  method: string,
  result: Record<string, unknown>,
  { serverInfo }: Pick<InitializeResult, 'serverInfo'>,
): Record<string, unknown> {
  const caching = cached.has(method) ? { ttlMs: 0, cacheScope: 'private' } : {};
  const _meta = { ...(result._meta as object), [SERVER_INFO_META_KEY]: serverInfo };
  const tools =
    method === 'tools/list' && Array.isArray(result.tools) ? { tools: result.tools.map(asTool) } : {};
  // The gate rejects unknown kinds of results, so the server's `resultType` stays (FA-13).
  const { resultType = 'complete' } = result;
  return { ...caching, ...result, ...tools, resultType, _meta };
}

/** Removes `execution`: tasks are an extension in 2026-07-28 (C3-06). */
function asTool({ execution: _tasks, ...tool }: Record<string, unknown>): Record<string, unknown> {
  return tool;
}

/** Returns the result of `server/discover` for the server's response to `initialize` (C3-03). */
export function discoverResult(initialized: InitializeResult): Record<string, unknown> {
  const { capabilities, instructions } = initialized;
  const found = { supportedVersions: [modernRevision], capabilities };
  return modernResult(
    'server/discover',
    instructions === undefined ? found : { ...found, instructions },
    initialized,
  );
}

/**
 * Converts the error of a server of an older revision to the code and status of 2026-07-28.
 * @see MCP 2026-07-28 "Error Codes" (C8-02, B5-06)
 */
export function modernError(error: JsonRpcError, request: RequestMessage): Answer {
  const told = withModernCode(error, request);
  return { status: told.code === errorCodes.methodNotFound ? 404 : 200, error: told };
}

/**
 * Returns an error with the code of 2026-07-28 if it reports an unknown resource.
 * @see MCP 2026-07-28 "Resources", error handling (C8-02, FA-33)
 */
export function withModernCode(error: JsonRpcError, { method, params }: RequestMessage): JsonRpcError {
  if (error.code !== errorCodes.resourceNotFound || method !== 'resources/read') return error;
  return { ...error, code: errorCodes.invalidParams, data: { uri: params?.uri } };
}
