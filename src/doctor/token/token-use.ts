import { type Answer, ask } from '../ask.ts';
import type { Subject } from '../subject.ts';

/**
 * Sends one JSON-RPC request with an access token.
 * @param subject the server under examination
 * @param accessToken the token
 * @param message method and parameters
 * @param headers more headers
 * @see RFC 6750 section 2.1; MCP transports "Streamable HTTP"
 */
export function callWith(
  subject: Subject,
  accessToken: string,
  message: { method: string; params?: object },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return ask(subject, subject.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${accessToken}`,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
}

/** The `initialize` of the last revision that has one. */
export const initializeMessage = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'gatehouse-doctor', version: '1' },
  },
};

/**
 * Whether the MCP server takes a token, whatever it says to the request itself.
 * @param subject the server under examination
 * @param accessToken the token
 * @returns undefined where no answer came, or a 5xx
 */
export async function isTokenTaken(subject: Subject, accessToken: string): Promise<boolean | undefined> {
  const answer = await callWith(subject, accessToken, { method: 'ping' });
  if (answer.kind === 'unanswered' || answer.status >= 500) return undefined;
  return answer.status !== 401;
}
