import { createHash, hash, randomBytes } from 'node:crypto';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/**
 * The time at which a session was opened, in milliseconds of base 36, before the random part. Dated tokens of
 * `crypto/secret` have the same form.
 */
const shape = /^([0-9a-z]{9})-[\w-]{43}$/;

/**
 * Returns the id of a new session: visible characters, a date and 256 random bits.
 * @see MCP 2025-11-25, basic/transports, Session Management
 */
export function createSessionId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(32).toString('base64url')}`;
}

/**
 * Returns the stored key of a session: the date and a hash of its id. Sessions opened in sequence are then neighbours in an
 * index; with hashes alone each would touch another page.
 * @param id as a client sends it; an id of another form has its hash alone as key
 */
export function hashSessionId(id: string): string {
  return (shape.exec(id)?.[1] ?? '') + hash('sha256', id, 'base64url');
}

/** Hashes by caller: a token's caller is the same object on each request. */
const known = new WeakMap<object, string>();

/** Returns the hash of a grant id, as sessions store it. */
export function hashGrant(grantId: string): string {
  return createHash('sha256').update(`grant:${grantId}`).digest('base64url');
}

/** Returns the hash of a caller's grant; null without one, as for a client that acts for itself. */
export function grantHashOf(authInfo: AuthInfo): string | null {
  if (authInfo.grantId === undefined) return null;
  const hash = known.get(authInfo) ?? hashGrant(authInfo.grantId);
  if (Object.isFrozen(authInfo)) known.set(authInfo, hash);
  return hash;
}
