import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/client';
import { errorCodes, isAboutTheRequest, modernErrorCodes } from '../../oauth/mcp-error-codes.ts';
import { ClientError } from '../client-error.ts';

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
 * Checks if a server that rejected `initialize` may be one of the old HTTP+SSE transport. The revisions name
 * 400, 404 and 405, the first of them any 4xx.
 * @param error the rejection of the connection over streamable HTTP
 * @see MCP transports "Backwards Compatibility" (B5-15, B6-01)
 */
export function mayBeEventStreamServer(error: unknown): error is SdkHttpError {
  if (!(error instanceof SdkHttpError)) return false;
  const { status, data } = error;
  return isAboutTheRequest(status) && !isModernError(data.text);
}

/**
 * Checks if a server failed at the first request of 2026-07-28, which older servers do not know, instead of
 * rejecting it. It may still accept `initialize`.
 * @param error the rejection of the connection with version negotiation
 */
export function brokeAtProbe(error: unknown): boolean {
  if (!(error instanceof SdkError) || error.code !== SdkErrorCode.EraNegotiationFailed) return false;
  if (error instanceof SdkHttpError) return error.status >= 500;
  return (
    (error.cause instanceof SdkError && error.cause.code === SdkErrorCode.ClientHttpUnexpectedContent) ||
    error.cause instanceof SyntaxError
  );
}

/**
 * Explains an HTTP response without an MCP message; the SDK's errors do not always contain the status. Errors
 * about a login are returned unchanged.
 * @param error the rejection of the connection
 * @param url URL of the MCP server
 */
export function explainHttpRefusal(error: unknown, url: string): unknown {
  if (!(error instanceof SdkHttpError) || error.status === 401 || error.status === 403) return error;
  const advice = error.status < 500 ? 'Check the path of the URL.' : 'Try again later.';
  const sentence = `${url} answered with ${`${error.status} ${error.statusText ?? ''}`.trim()}. ${advice}`;
  return new ClientError('server_error', sentence, { cause: error });
}

/**
 * Creates the error for a URL that neither accepts `initialize` nor opens the event stream of the old
 * HTTP+SSE.
 * @param error the first rejection
 * @param url URL of the MCP server
 * @see MCP transports "Backwards Compatibility" (B5-15)
 */
export function noEndpoint(error: SdkHttpError, url: string): ClientError {
  return new ClientError(
    'server_error',
    `${url} is no MCP endpoint: POST is answered with ${error.status}, and GET opens no event stream. Check the path of the URL.`,
    { cause: error },
  );
}

/** The SDK's error for a response to `initialize` with an unsupported revision; it has no code. */
const unsupportedAnswer = /^Server's protocol version is not supported: (.{0,60})/s;

/**
 * Returns the revisions of a server that rejected the requested one.
 * @param error the rejection of the connection
 * @returns undefined if it was rejected for another reason
 * @see MCP 2026-07-28 "Protocol Version Negotiation" (C3-08)
 */
export function revisionsOffered(error: unknown): string[] | undefined {
  const answered = error instanceof Error ? unsupportedAnswer.exec(error.message)?.[1] : undefined;
  if (answered !== undefined) return [answered];
  if (!(error instanceof ProtocolError) || error.code !== errorCodes.unsupportedProtocolVersion)
    return undefined;
  const { supported } = Object(error.data) as { supported?: unknown };
  return Array.isArray(supported) ? supported.filter((one) => typeof one === 'string') : [];
}

/**
 * Checks if a server that rejected the newest revision supports an older one of this client. The SDK tries
 * older ones only if the server names no newer one besides.
 * @param error the rejection of the connection with version negotiation
 */
export function speaksOlderRevision(error: unknown): boolean {
  return revisionsOffered(error)?.some((one) => SUPPORTED_PROTOCOL_VERSIONS.includes(one)) === true;
}

/**
 * Describes the revisions of a server and this client, if they have none in common.
 * @param offered see {@link revisionsOffered}
 */
export function describeNoCommonRevision(offered: readonly string[]): string {
  const theirs = offered.length === 0 ? 'no revision of ours' : `only ${offered.join(', ')}`;
  const ours = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS].join(', ');
  return `the server speaks ${theirs} of MCP, and this client ${ours}. One of the two has to be updated.`;
}

/** The error message of the SDK's old HTTP+SSE transport for a rejected POST. */
const refusedPost = /^Error POSTing to endpoint \(HTTP 404\)/;

/**
 * Checks if the server no longer knows the session, so that a new one has to begin. The standard status is
 * 404. Many servers copied an example that sends 400 with a sentence about sessions.
 * @param error the rejection of a transport's `send`
 * @param transport the transport; without a session, 404 has another meaning
 * @see MCP transports "Session Management" (B3-11)
 */
export function isSessionLost(error: unknown, transport: Transport): boolean {
  if (error instanceof SdkHttpError) {
    if (transport.sessionId === undefined) return false;
    const { text } = error.data as { text?: unknown };
    return (
      error.status === 404 || (error.status === 400 && typeof text === 'string' && /session/i.test(text))
    );
  }
  return error instanceof Error && refusedPost.test(error.message);
}
