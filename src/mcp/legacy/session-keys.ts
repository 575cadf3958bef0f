import { createHash, hash, randomBytes } from 'node:crypto';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/**
 * The moment a session was opened, in milliseconds of base 36, in front of what nobody can guess. So do dated tokens look
 * (`crypto/secret`, which this room does without).
 */
const shape = /^([0-9a-z]{9})-[\w-]{43}$/;

/**
 * Returns the id of a session that is opened now: visible characters, 256 random bits behind a date.
 * @see MCP 2025-11-25, basic/transports, Session Management
 */
export function createSessionId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(32).toString('base64url')}`;
}

/**
 * Returns the stored name of a session: a hash of its id, after its date. So sessions opened in sequence are neighbours
 * in an index; by hashes alone each would touch another page.
 * @param id as a client sends it; whatever is not of our making is named by its hash alone
 */
export function hashSessionId(id: string): string {
  return (shape.exec(id)?.[1] ?? '') + hash('sha256', id, 'base64url');
}

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
