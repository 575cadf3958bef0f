import { createHash } from 'node:crypto';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/** Hashes by caller: a token's caller is the same object on each request. */
const known = new WeakMap<object, string>();

/** The hash under which a session keeps the name of a grant. */
export function hashGrant(grantId: string): string {
  return createHash('sha256').update(`grant:${grantId}`).digest('base64url');
}

/** The hash of the consent a call is made by; null if there is none, as for a client that acts for itself. */
export function grantHashOf(authInfo: AuthInfo): string | null {
  if (authInfo.grantId === undefined) return null;
  const hash = known.get(authInfo) ?? hashGrant(authInfo.grantId);
  if (Object.isFrozen(authInfo)) known.set(authInfo, hash);
  return hash;
}
