import { hash, randomBytes } from 'node:crypto';

/**
 * The moment a session was opened, in milliseconds of base 36, in front of what nobody can guess. So do dated tokens look
 * (`crypto/secret`, which this room does without).
 */
const shape = /^([0-9a-z]{9})-[\w-]{43}$/;

/**
 * Gives the id of a session that is opened now: visible characters, 256 random bits behind a date.
 * @see MCP 2025-11-25, basic/transports, Session Management
 */
export function createSessionId(): string {
  return `${Date.now().toString(36).padStart(9, '0')}-${randomBytes(32).toString('base64url')}`;
}

/**
 * The name under which a session is stored: a hash of its id, behind its date. So those that are opened one after the
 * other stand side by side in an index, where by hashes alone each would be on another page, to be written anew.
 * @param id as a client sends it; whatever is not of our making is named by its hash alone
 */
export function hashSessionId(id: string): string {
  return (shape.exec(id)?.[1] ?? '') + hash('sha256', id, 'base64url');
}
