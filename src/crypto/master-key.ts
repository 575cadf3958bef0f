import { createHash } from 'node:crypto';
import type { SealingKey } from './sealed-box.ts';
import { randomSecret } from './secret.ts';

/** Length of a master key, in bytes. */
const keyBytes = 32;

/** Returns a new master key as text. */
export function generateMasterKey(): string {
  return randomSecret(keyBytes);
}

/**
 * Parses the master key of an installation, under which its other keys are sealed in the database.
 * @param text 32 bytes as base64url, base64 or hexadecimal; spaces around them do not count
 * @returns undefined if it is none
 */
export function parseMasterKey(text: string): SealingKey | undefined {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64url');
  if (!/^[\w+/=-]+$/.test(trimmed) || bytes.length !== keyBytes || new Set(bytes).size < 10) return undefined;
  const fingerprint = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
  return { id: `master-${fingerprint}`, key: bytes.toString('base64url') };
}
