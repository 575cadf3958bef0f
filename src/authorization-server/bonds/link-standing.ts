import { TokenStatusUnknown } from '../../oauth/auth-info.ts';

/** The standing of links to upstreams, which grants hang on. */
export interface LinkStanding {
  /** Says whether a link stands at its upstream; where that is known, at once. */
  check(linkId: string): LinkWord | Promise<LinkWord>;
  /** When it is worth to ask again for one that is unavailable, in seconds. */
  retryAfterSeconds(linkId: string): number;
}

/** `ended` where the upstream said no; `unavailable` where it says nothing, for longer than the grace. */
export type LinkWord = 'stands' | 'ended' | 'unavailable';

/**
 * Says whether what hangs on a link may be honoured (A10-02, T-090).
 * @throws TokenStatusUnknown where nobody can tell
 */
export async function mayHonour(standing: LinkStanding, linkId: string): Promise<boolean> {
  const word = await standing.check(linkId);
  if (word !== 'unavailable') return word === 'stands';
  throw new TokenStatusUnknown(
    'The identity provider behind this login cannot be reached, so the login cannot be confirmed. Try again later.',
    standing.retryAfterSeconds(linkId),
  );
}
