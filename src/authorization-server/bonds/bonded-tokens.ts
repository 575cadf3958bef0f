import type { IssuedAccessTokens } from '../access-tokens.ts';
import { type LinkStanding, mayHonour } from './link-standing.ts';

/**
 * Creates the access tokens as they are honoured: one whose grant hangs on a login at an upstream is found only while
 * that stands there; one that hangs on nothing is found as it is.
 * @returns `find` throws StandingUnknown where nobody can tell
 * @see MCP authorization 2025-03-26 section 2.10.2 (A10-02, T-090)
 */
export function honourBonds(tokens: IssuedAccessTokens, standing: LinkStanding): IssuedAccessTokens {
  return {
    ...tokens,
    async find(token) {
      const issued = await tokens.find(token);
      if (issued?.bond === undefined) return issued;
      return (await mayHonour(standing, issued.bond.linkId)) ? issued : undefined;
    },
  };
}
