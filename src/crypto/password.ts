import { createHash, randomBytes, randomInt } from 'node:crypto';
import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { FairQueue, FairQueueFull, type FairQueueLimits } from '../collections/fair-queue.ts';

/** Accepted password lengths: minimum in characters, maximum in bytes (T-118, T-120). */
export const passwordLimits = { minCharacters: 8, maxBytes: 1024 } as const;

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. */
const parameters = { algorithm: 2 as Algorithm, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Prefix of a PHC string with these parameters. */
const currentPrefix = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

/**
 * Hashes and verifies passwords, a bounded number at once and fairly across callers (T-118, T-206). Both methods take
 * the callers that a job counts for, such as an address and an account.
 */
export interface PasswordHasher {
  /**
   * @returns the PHC string of an argon2id hash (RFC 9106)
   * @throws PasswordQueueFull
   */
  hash(password: string, callers?: readonly string[]): Promise<string>;
  /**
   * @param stored a PHC string, or undefined for an account that does not exist: the same work is done, the result is
   * false (T-116)
   * @throws PasswordQueueFull
   */
  verify(password: string, stored: string | undefined, callers?: readonly string[]): Promise<boolean>;
  /** Returns whether a hash has outdated parameters and is to be replaced at the next login. */
  isOutdated(stored: string): boolean;
}

/** The queue of the caller is full: respond with 503 and ask for a retry. */
export class PasswordQueueFull extends Error {
  override name = 'PasswordQueueFull';
}

/**
 * Size of the queue. argon2 runs on libuv's four threads, which signatures and file access need as well, so two run at
 * once. A hash takes some 30 ms, so a full queue is empty after four seconds.
 */
export const passwordQueueLimits = {
  running: 2,
  waiting: 256,
  perCaller: { running: 2, waiting: 8 },
} as const satisfies FairQueueLimits;

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** Returns the digest that marks an unknown password; it is derived from the salt, so that it can be recognized. */
function digestOfNobody(salt: string): string {
  return unpadded(createHash('sha256').update(`a password that nobody knows:${salt}`).digest());
}

/**
 * Creates the stored form of a password that nobody knows: no password is known to have this digest, and a verification
 * takes as long as for any other account (T-116).
 */
export function unknownPasswordHash(): string {
  const salt = unpadded(randomBytes(16));
  return `${currentPrefix}${salt}$${digestOfNobody(salt)}`;
}

/** Returns whether a stored form was created by {@link unknownPasswordHash}: no password login is possible. */
export function isUnknownPassword(stored: string): boolean {
  const [digest = '', salt = ''] = stored.split('$').reverse();
  return digest === digestOfNobody(salt);
}

/** Returns the reason why a password is not accepted, a sentence for the user; undefined if it is. */
export function checkPassword(password: string): string | undefined {
  if ([...password].length < passwordLimits.minCharacters)
    return `The password needs at least ${passwordLimits.minCharacters} characters.`;
  if (Buffer.byteLength(password) > passwordLimits.maxBytes)
    return `The password may have at most ${passwordLimits.maxBytes} bytes.`;
  return undefined;
}

/**
 * Creates the hasher.
 * @param onRefused called for each hash that found the queue full
 */
export function createPasswordHasher(
  limits: FairQueueLimits = passwordQueueLimits,
  onRefused: () => void = () => undefined,
): PasswordHasher {
  const queue = new FairQueue(limits);
  const decoy = hash('a password nobody has', parameters);

  async function bounded<T>(callers: readonly string[], work: () => Promise<T>): Promise<T> {
    try {
      return await queue.run(callers, work);
    } catch (error) {
      if (!(error instanceof FairQueueFull)) throw error;
      onRefused();
      throw new PasswordQueueFull('too many logins at once');
    }
  }

  return {
    hash: (password, callers = []) => bounded(callers, () => hash(password, parameters)),
    async verify(password, stored, callers = []) {
      if (Buffer.byteLength(password) > passwordLimits.maxBytes) return false;
      const against = stored ?? (await decoy);
      const matches = await bounded(callers, () => verify(against, password));
      return stored !== undefined && matches;
    },
    isOutdated: (stored) => !stored.startsWith(currentPrefix),
  };
}

/** Letters and digits that cannot be confused on paper. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** @returns a fresh password to be written down: four groups of five, 99 bits */
export function randomPassword(): string {
  const group = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}
