import { type Fetch, withMcpConnection } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { isForNoToken } from '../../oauth/challenge.ts';
import { ask } from '../ask.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import { consentPatienceMs } from '../login/consent.ts';
import { initializeRequest, legacyRevision, mcpRequest } from '../requests.ts';
import type { Subject } from '../subject.ts';
import { readClaims } from './claims-checks.ts';
import { bearer, type TokenAtHand, tokenAtHand } from './token-at-hand.ts';

/** A response that rejected the token. */
export interface Refusal {
  status: number;
  /** `WWW-Authenticate`; null if it has none. */
  challenge: string | null;
  /** Number of the exchange. */
  exchange: number;
}

/**
 * Returns a fetch that sends a token to the MCP server, and to nobody else.
 * @param onRefusal called for each 401 and 403
 */
export function fetchWith(
  subject: Subject,
  accessToken: string,
  onRefusal: (refusal: Refusal) => void,
): Fetch {
  const { origin } = new URL(subject.url);
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (new URL(url).origin === origin) headers.set('authorization', `Bearer ${accessToken}`);
    const pending = subject.context.fetch(url, { ...init, headers, redirect: 'manual' });
    const exchange = subject.exchanges.length;
    const response = await pending;
    const { status } = response;
    if (status === 401 || status === 403)
      onRefusal({ status, challenge: response.headers.get('www-authenticate'), exchange });
    return response;
  };
}

/** Client information that the examination sends to an MCP server. */
export const doctorInfo = { name: 'gatehouse-doctor', version: '1' };

type HeldToken = Extract<TokenAtHand, { kind: 'held' }>;

function describeChallenge({ challenge }: Refusal): string {
  return challenge === null ? 'without WWW-Authenticate' : `with ${quote(challenge)}`;
}

function describeAudience({ accessToken }: HeldToken): string {
  const aud = readClaims(accessToken)?.payload.aud;
  return aud === undefined ? '' : ` (aud ${quote(aud)})`;
}

/** Judges the rejection of a stored login's token, which says little about the server. */
function judgeKept(token: HeldToken, refusal: Refusal): Judgement {
  const said = describeChallenge(refusal);
  const evidence = [refusal.exchange];
  const advice = 'log in again (gatehouse login), or see with --active whether a new token is taken';
  if (refusal.status === 403)
    return unknown(
      `The MCP server answered 403 ${said} to the token of the kept login, which may have fewer scopes than it wants: ${advice}.`,
      { evidence },
    );
  const orLost = isForNoToken(refusal.challenge)
    ? ', or taken away on the way (gatehouse doctor --proxy)'
    : '';
  return unknown(
    `The MCP server refused, ${said}, the token of the kept login${describeAudience(token)}, which may have been revoked${orLost}: ${advice}.`,
    { evidence },
  );
}

/** Judges the rejection of a token that the examination has just got. */
function judgeOwn(token: HeldToken, refusal: Refusal): Judgement {
  const said = describeChallenge(refusal);
  const evidence = [refusal.exchange];
  if (refusal.status === 403)
    return fail(
      `The MCP server answered 403 ${said} to a token with all scopes that its metadata names.`,
      'Name the scopes that a connection needs in the scope of the first challenge, or in scopes_supported.',
      { evidence },
    );
  if (isForNoToken(refusal.challenge))
    return fail(
      `The MCP server answered 401 ${said}, without an error, as if no token had been sent; one that its authorization server ${token.issuer} issued for it was.`,
      'Look whether something in front of the MCP server takes the Authorization header away: gatehouse doctor --proxy. Else have the server say what is wrong with a token (error="invalid_token").',
      { evidence },
    );
  return fail(
    `The MCP server refused, ${said}, a token that its authorization server ${token.issuer} issued for it${describeAudience(token)}.`,
    `Compare what the MCP server verifies with what the token has: issuer ${token.issuer}, audience ${token.resource}, the keys of jwks_uri, the clock.`,
    { evidence },
  );
}

/** Checks that the MCP server accepts its token. */
export const accessCheck: Check = {
  id: 'TOKEN-ACCEPTED',
  section: 'token',
  title: 'The MCP server takes the token and lists its tools',
  clause: 'MCP authorization "Token Handling"; RFC 6750 section 3.1',
  patienceMs: consentPatienceMs,
  async judge(subject) {
    const token = await tokenAtHand(subject);
    if (token.kind === 'missing') return token.judgement;
    const refusals: Refusal[] = [];
    const fetch = fetchWith(subject, token.accessToken, (refusal) => refusals.push(refusal));
    const { url, context } = subject;
    const options = { url, fetch, clientInfo: doctorInfo, timeoutMs: context.timeoutMs };
    try {
      const tools = await withMcpConnection(options, async (client) =>
        client.getServerCapabilities()?.tools === undefined
          ? undefined
          : (await client.listTools()).tools.length,
      );
      return pass(
        tools === undefined
          ? 'The token opened a connection; the server has no tools.'
          : `The token opened a connection, and ${tools} tools were listed.`,
      );
    } catch (error) {
      const refusal = refusals.at(-1);
      if (refusal === undefined)
        return unknown(`No connection came about: ${error instanceof Error ? error.message : 'no answer'}.`);
      return (token.receivedAt === undefined ? judgeKept : judgeOwn)(token, refusal);
    }
  },
};

/** A session id that no server has issued. */
const staleSession = '00000000-0000-4000-8000-67617465686f';

/** Checks that clients learn of a lost session, so that they start a new one. */
export const sessionCheck: Check = {
  id: 'TOKEN-SESSION',
  section: 'token',
  title: 'A session that the server does not know is answered with 404',
  clause: 'MCP transports "Session Management"',
  patienceMs: consentPatienceMs,
  async judge(subject) {
    const token = await tokenAtHand(subject);
    if (token.kind === 'missing') return token.judgement;
    const { accessToken } = token;
    const opened = await ask(subject, subject.url, initializeRequest(bearer(accessToken)));
    if (opened.kind === 'unanswered') return unknown(`No answer to initialize: ${opened.why}.`);
    if (opened.status === 401) return unknown('The server refuses the token.', { because: 'TOKEN-ACCEPTED' });
    const session = opened.headers.get('mcp-session-id');
    if (session === null) return skip('The server gives out no sessions.');
    const of = (id: string) => ({
      ...bearer(accessToken),
      'mcp-session-id': id,
      'mcp-protocol-version': legacyRevision,
    });
    const stale = await ask(subject, subject.url, mcpRequest('tools/list', {}, of(staleSession)));
    await ask(subject, subject.url, { method: 'DELETE', headers: of(session) });
    const { evidence } = stale;
    if (stale.kind === 'unanswered')
      return unknown(`No answer to a session that does not exist: ${stale.why}.`, { evidence });
    const saw = `A request with a Mcp-Session-Id that does not exist was answered with ${stale.status}.`;
    const fix =
      'Answer 404 where the session is not known: on nothing else do clients start a new one. After a restart of the server every client comes with such a session.';
    if (stale.status === 404) return pass(saw, { evidence });
    if (stale.status >= 500) return fail(saw, fix, { evidence });
    return warn(saw, fix, { evidence });
  },
};
