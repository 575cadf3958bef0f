import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client';
import { errorCodes, modernErrorCodes } from '../../oauth/mcp-error-codes.ts';
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

/** 4xx that say nothing about the age of a server: credentials, rights and load. */
const notAboutAge = new Set([401, 402, 403, 407, 408, 429]);

/**
 * Whether a status says that a server does not know what was asked, not that it does not let the asker in.
 * @param status of an HTTP answer
 */
export function isAboutTheRequest(status: number): boolean {
  return status >= 400 && status < 500 && !notAboutAge.has(status);
}

/**
 * Says what an HTTP answer without MCP in it means; the SDK's errors do not always name the status. Those about a login
 * stay as they are.
 * @param error what connecting rejected with
 * @param url URL of the MCP server
 */
export function explainHttpRefusal(error: unknown, url: string): unknown {
  if (!(error instanceof SdkHttpError) || error.status === 401 || error.status === 403) return error;
  const advice = error.status < 500 ? 'Check the path of the URL.' : 'Try again later.';
  const sentence = `${url} answered with ${`${error.status} ${error.statusText ?? ''}`.trim()}. ${advice}`;
  return new ClientError('server_error', sentence, { cause: error });
}

/**
 * The failure at a URL that neither takes `initialize` nor opens the event stream of the old HTTP+SSE.
 * @param error how the first was refused
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

/** What the SDK throws at an answer to `initialize` with a revision that it does not speak; it has no code for it. */
const unsupportedAnswer = /^Server's protocol version is not supported: (.{0,60})/s;

/**
 * What a server speaks that refused the revision it was asked in.
 * @param error what connecting rejected with
 * @returns the revisions it named; undefined where it refused for another reason
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
 * Whether a server that refused the newest revision speaks one of `initialize` that we do too. The SDK tries that only
 * where the server names no newer one beside it.
 * @param error what connecting with version negotiation rejected with
 */
export function speaksOlderRevision(error: unknown): boolean {
  return revisionsOffered(error)?.some((one) => SUPPORTED_PROTOCOL_VERSIONS.includes(one)) === true;
}

/**
 * Says which revisions a server and this client speak, where they have none in common.
 * @param offered see {@link revisionsOffered}
 */
export function describeNoCommonRevision(offered: readonly string[]): string {
  const theirs = offered.length === 0 ? 'no revision of ours' : `only ${offered.join(', ')}`;
  const ours = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS].join(', ');
  return `the server speaks ${theirs} of MCP, and this client ${ours}. One of the two has to be updated.`;
}
