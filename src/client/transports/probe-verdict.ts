import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { modernErrorCodes } from '../../oauth/mcp-error-codes.ts';
import { isAboutTheRequest } from './about-the-request.ts';

function isModernError(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  try {
    const { error } = Object(JSON.parse(text)) as { error?: { code?: unknown } };
    return modernErrorCodes.has(Number(error?.code));
  } catch {
    return false;
  }
}

/**
 * Whether a server that refused `initialize` may be one of the old HTTP+SSE transport. The revisions name 400, 404 and
 * 405, the first of them any 4xx.
 * @param error what connecting over streamable HTTP rejected with
 * @see MCP transports "Backwards Compatibility" (B5-15, B6-01)
 */
export function mayBeEventStreamServer(error: unknown): error is SdkHttpError {
  if (!(error instanceof SdkHttpError)) return false;
  const { status, data } = error;
  return isAboutTheRequest(status) && !isModernError(data.text);
}

/**
 * Whether a server broke at the first question of 2026-07-28, which older servers do not know, instead of refusing it.
 * It may still take `initialize`.
 * @param error what connecting with version negotiation rejected with
 */
export function brokeAtProbe(error: unknown): boolean {
  if (!(error instanceof SdkError) || error.code !== SdkErrorCode.EraNegotiationFailed) return false;
  if (error instanceof SdkHttpError) return error.status >= 500;
  return (
    (error.cause instanceof SdkError && error.cause.code === SdkErrorCode.ClientHttpUnexpectedContent) ||
    error.cause instanceof SyntaxError
  );
}
