import { type Awaitable, mapAwaitable } from '../../collections/awaitable.ts';
import type { IssuedAccessToken, IssuedAccessTokens } from '../access-tokens.ts';
import { type LinkStanding, mayHonour } from './link-standing.ts';

/**
 * Creates the access tokens as they are honoured: one whose grant hangs on a login at an upstream is found only while
 * that stands there; one that hangs on nothing is found as it is.
 * @returns `find` throws TokenStatusUnknown where nobody can tell
 * @see MCP authorization 2025-03-26 section 2.10.2 (A10-02, T-090)
 */
export function honourBonds(tokens: IssuedAccessTokens, standing: LinkStanding): IssuedAccessTokens {
  const honoured = (issued: IssuedAccessToken | undefined): Awaitable<IssuedAccessToken | undefined> => {
    if (issued?.bond === undefined) return issued;
    return mayHonour(standing, issued.bond.linkId).then((may) => (may ? issued : undefined));
  };
  return {
    ...tokens,
    find: (token) => mapAwaitable(tokens.find(token), honoured),
  };
}
