import { createHash, randomBytes, randomInt } from 'node:crypto';
import { type Algorithm, hash, verify } from '@node-rs/argon2';

/** Passwords are refused outside these lengths: characters below, bytes above (T-118, T-120). */
export const passwordLimits = { minCharacters: 8, maxBytes: 1024 } as const;

/** OWASP's parameters for argon2id: 19 MiB, two passes, one lane. */
const parameters = { algorithm: 2 as Algorithm, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** How a PHC string with these parameters begins. */
const currentPrefix = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

/** Hashes and verifies passwords, a bounded number at once. */
export interface PasswordHasher {
  /** @returns the PHC string of an argon2id hash (RFC 9106) */
  hash(password: string): Promise<string>;
  /**
   * @param stored a PHC string, or undefined for an account that does not exist: the same work is done, the answer is false (T-116)
   */
  verify(password: string, stored: string | undefined): Promise<boolean>;
  /** Whether a hash was made with other parameters than those of today, and is to be made anew at the next login. */
  isOutdated(stored: string): boolean;
}

/** More hashes are waiting than the queue holds: the caller should answer 503 and ask for a retry. */
export class PasswordQueueFull extends Error {
  override name = 'PasswordQueueFull';
}

const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** What stands in the place of a hash where nobody knows a password; made from the salt, so that it can be told. */
function digestOfNobody(salt: string): string {
  return unpadded(createHash('sha256').update(`a password that nobody knows:${salt}`).digest());
}

/**
 * Makes the stored form of a password that nobody knows, and nobody ever did: no password is known to give these bytes,
 * and finding that out takes as long as with any other account (T-116).
 */
export function unknownPasswordHash(): string {
  const salt = unpadded(randomBytes(16));
  return `${currentPrefix}${salt}$${digestOfNobody(salt)}`;
}

/** Whether a stored form is one of {@link unknownPasswordHash}: nobody can log in with a password there. */
export function isUnknownPassword(stored: string): boolean {
  const [digest = '', salt = ''] = stored.split('$').reverse();
  return digest === digestOfNobody(salt);
}

/** Why a password cannot be taken, in a sentence for the person; undefined where it can. */
export function checkPassword(password: string): string | undefined {
  if ([...password].length < passwordLimits.minCharacters)
    return `The password needs at least ${passwordLimits.minCharacters} characters.`;
  if (Buffer.byteLength(password) > passwordLimits.maxBytes)
    return `The password may have at most ${passwordLimits.maxBytes} bytes.`;
  return undefined;
}

/**
 * Creates the hasher. argon2 runs on libuv's four threads, which signatures and file access need as well: two at
 * once leaves them room.
 * @param limits hashes at once, and how many may wait behind them
 */
export function createPasswordHasher(limits = { atOnce: 2, waiting: 32 }): PasswordHasher {
  let running = 0;
  const waiting: (() => void)[] = [];
  const decoy = hash('a password nobody has', parameters);

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (running >= limits.atOnce) {
      if (waiting.length >= limits.waiting) throw new PasswordQueueFull('too many logins at once');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return {
    hash: (password) => bounded(() => hash(password, parameters)),
    async verify(password, stored) {
      if (Buffer.byteLength(password) > passwordLimits.maxBytes) return false;
      const against = stored ?? (await decoy);
      const matches = await bounded(() => verify(against, password));
      return stored !== undefined && matches;
    },
    isOutdated: (stored) => !stored.startsWith(currentPrefix),
  };
}

/** Letters and digits that cannot be mistaken for one another on paper. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';

/** @returns a fresh password for a person to keep: four groups of five, 99 bits */
export function randomPassword(): string {
  const group = (): string => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}
