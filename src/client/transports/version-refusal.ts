import { ProtocolError, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';

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
