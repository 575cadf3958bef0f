import { type Challenge, findGrammarFault, parseChallenges } from '../../oauth/challenge.ts';
import { isSuccess, type NoteSlip, type Slip } from '../../oauth/foreign-json.ts';
import { isScopeToken, parseScope } from '../../oauth/scope.ts';
import { ClientError } from '../client-error.ts';
import { limitedFetch } from '../limited-fetch.ts';
import { type DiscoveryWalk, discoveryProtocolVersion, isPassing, noteSlip } from './discovery-walk.ts';

/** What a server says to a request without a token. */
export interface FirstChallenge {
  /** Whether the server answered 401. */
  protected: boolean;
  /** What it answered in place of that, in words; undefined if it did. */
  instead?: string;
  /** `resource_metadata` of the challenge (RFC 9728 section 5.1). */
  resourceMetadata?: string;
  /** `scope` of the challenge. */
  scopes?: string[];
  /** True where only tokens bound to a key are taken: a DPoP challenge, and no bearer challenge (RFC 9449 section 7.1). */
  dpop?: true;
}

/**
 * Reads what a challenge offers for discovery.
 * A bearer challenge wins over others; one with `resource_metadata` wins over one without.
 * @param header the `WWW-Authenticate` fields, joined by a comma; null where there are none
 * @param note told of a slip of its spelling
 * @see RFC 9728 section 5.1; RFC 6750 section 3 (A3-06)
 */
export function readFirstChallenge(
  header: string | null,
  note?: NoteSlip,
): Omit<FirstChallenge, 'protected' | 'instead'> {
  const fault = findGrammarFault(header ?? '');
  if (fault) note?.({ tolerance: 'challengeSpelling', because: `in the challenge ${fault.what}` });
  const challenges = parseChallenges(header ?? '');
  const bearer = challenges.filter(({ scheme }) => scheme === 'bearer');
  const withMetadata = ({ parameters }: Challenge): boolean => parameters.resource_metadata !== undefined;
  const dpop = challenges.find(({ scheme }) => scheme === 'dpop');
  const chosen = bearer.find(withMetadata) ?? challenges.find(withMetadata) ?? bearer[0] ?? dpop;
  const scope =
    chosen?.parameters.scope ?? bearer.find(({ parameters }) => parameters.scope)?.parameters.scope;
  const scopes = parseScope(scope).filter(isScopeToken);
  return {
    ...(chosen?.parameters.resource_metadata === undefined
      ? {}
      : { resourceMetadata: chosen.parameters.resource_metadata }),
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(dpop === undefined || bearer.length > 0 ? {} : { dpop: true as const }),
  };
}

/**
 * Asks the MCP server without a token: a POST that has no effect, then a GET, until one is answered with 401.
 * @throws ClientError `server_error` at a 5xx or a 4xx that says "later", and those of {@link limitedFetch}
 * @see MCP authorization "Authorization Flow Steps" (A2-08)
 */
export async function askForChallenge(walk: DiscoveryWalk): Promise<FirstChallenge> {
  const slips: Slip[] = [];
  const tolerated = (slip: Slip): void => void slips.push(slip);
  const ask = limitedFetch({ ...walk.context, tolerated }, { keepBody: false });
  const requests: { method: 'POST' | 'GET'; init: RequestInit }[] = [
    {
      method: 'POST',
      init: {
        body: JSON.stringify({ jsonrpc: '2.0', id: 'challenge', method: 'ping' }),
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      },
    },
    { method: 'GET', init: { headers: { accept: 'text/event-stream' } } },
  ];
  for (const { method, init } of requests) {
    const headers = { ...init.headers, 'mcp-protocol-version': discoveryProtocolVersion };
    const response = await ask(walk.server, { ...init, method, headers });
    const { status } = response;
    const step = { purpose: 'challenge' as const, method, url: walk.server, status };
    if (status === 401) {
      walk.trace.push({ ...step, verdict: 'taken', reason: 'the server asks for a token' });
      for (const slip of slips) noteSlip(walk, slip);
      const header = response.headers.get('www-authenticate');
      return { protected: true, ...readFirstChallenge(header, (slip) => noteSlip(walk, slip)) };
    }
    if (isPassing(status)) {
      walk.trace.push({ ...step, verdict: 'refused', reason: 'server error' });
      throw new ClientError(
        'server_error',
        `${walk.server} answered with status ${status}. Try again later.`,
      );
    }
    walk.trace.push({ ...step, verdict: 'absent', reason: 'no challenge: the status is not 401' });
  }
  const answers = walk.trace.filter(({ purpose }) => purpose === 'challenge');
  const isServed = answers.some(({ status = 0 }) => isSuccess(status));
  const seen = answers.map(({ method, status }) => `${status} to ${method}`).join(' and ');
  return { protected: false, ...(isServed ? {} : { instead: seen }) };
}
