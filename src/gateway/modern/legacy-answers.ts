import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import {
  type InitializeResult,
  type JsonRpcError,
  legacyRevisions,
  newestLegacyRevision,
  type RequestMessage,
} from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

/**
 * Returns a result of 2026-07-28 the form of the revisions before: who answered was said by `initialize`, and every
 * result is complete. `ttlMs` and `cacheScope` stay: they are free to add.
 * @returns undefined if the older revisions have nothing like it
 */
export function legacyResult(result: Record<string, unknown>): Record<string, unknown> | undefined {
  const { resultType = 'complete', _meta: meta, ...content } = result;
  if (resultType !== 'complete') return undefined;
  const { [SERVER_INFO_META_KEY]: _serverInfo, ...others } = Object(meta) as Record<string, unknown>;
  return Object.keys(others).length === 0 ? content : { ...content, _meta: others };
}

/**
 * Returns an error of 2026-07-28 the code it had in the revisions before.
 * @see MCP 2025-11-25 "Resources", error handling (C3-06)
 */
export function legacyError(error: JsonRpcError, { method }: Pick<RequestMessage, 'method'>): JsonRpcError {
  const { code, data } = error;
  const isMissing =
    method === 'resources/read' && code === errorCodes.invalidParams && Object.hasOwn(Object(data), 'uri');
  return isMissing ? { ...error, code: errorCodes.resourceNotFound } : error;
}

/**
 * Answers `initialize` from what a server answered to `server/discover`.
 * @param requested the revision that was asked for
 * @see MCP 2025-11-25 lifecycle "Initialization" (C3-03)
 */
export function initializeResult(
  { capabilities, instructions, _meta: meta }: Record<string, unknown>,
  requested: unknown,
): InitializeResult {
  const serverInfo = (Object(meta) as Record<string, unknown>)[SERVER_INFO_META_KEY] ?? unnamed;
  return {
    protocolVersion: legacyRevisions.includes(requested as string)
      ? (requested as string)
      : newestLegacyRevision,
    capabilities: Object(capabilities) as Record<string, unknown>,
    serverInfo: serverInfo as InitializeResult['serverInfo'],
    ...(typeof instructions === 'string' && { instructions }),
  };
}

const unnamed = { name: 'unnamed', version: '0' };
