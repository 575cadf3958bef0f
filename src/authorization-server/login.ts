import { type PasswordHasher, PasswordQueueFull } from '../crypto/password.ts';
import { type Account, type AccountStore, normalizeEmail } from '../storage/accounts.ts';
import { type Limit, type Limiters, memoryLimiters } from './limits.ts';

/** Result of a login attempt. */
export type LoginResult =
  | { outcome: 'accepted'; account: Account }
  /** `accountId` is for the audit log alone: the person is not told whether there is such an account (T-116). */
  | { outcome: 'refused'; accountId?: string }
  /** Too many attempts: try again after that many seconds. */
  | { outcome: 'throttled'; retryAfterSeconds: number }
  /** Too many at once of this address or account: the same. */
  | { outcome: 'busy'; retryAfterSeconds: number };

/** Failed logins allowed (T-117). */
export interface LoginLimits {
  /** From one address to any accounts. Bounds how many keys an address can make in the two other counts. */
  perAddress: Limit;
  /** From one address to one account: the tight one, which keeps nobody out at any other address. */
  perAccountAndAddress: Limit;
  /** To one account, from all addresses together. */
  perAccount: Limit;
}

/**
 * Checks a person's e-mail address and password.
 * @param device a browser in which this account logged in before: its attempts count by themselves
 */
export type Login = (
  email: string,
  password: string,
  address: string,
  device?: string,
) => Promise<LoginResult>;

/** The longest e-mail address there can be (RFC 5321 section 4.5.3.1.3, without the angle brackets). */
const maxEmailCharacters = 254;

/** Keys under which a login attempt is counted. */
interface Attempt {
  name: string;
  address: string;
  device: string | undefined;
}

/**
 * The callers that an attempt counts for in the password queue. A browser in which the account logged in before counts
 * for the account alone, apart from strangers who try that account or share that address (T-117, T-206).
 */
function callersOf({ name, address, device }: Attempt): string[] {
  return device === undefined ? [`address ${address}`, `account ${name}`] : [ownerOf(name)];
}

/** The name of an account's owner in the password queue, for work that a stranger cannot cause. */
export function ownerOf(email: string): string {
  return `owner ${normalizeEmail(email)}`;
}

/** The account at this address, or in the browser it is known in, wherever that is. */
function narrowKey({ name, address, device }: Attempt): string {
  return device === undefined ? `${address} ${name}` : `device ${device} ${name}`;
}

/**
 * The counts of failed logins, asked in their order: address, account at this address, account everywhere. A browser
 * in which the account logged in before is counted alone, so that nobody else uses up what it has (T-117).
 */
function createAttemptCounts(limits: LoginLimits, { ofGuesses }: Limiters) {
  const perAccountAndAddress = ofGuesses('logins of account at address', limits.perAccountAndAddress);
  const narrow = { limiter: perAccountAndAddress, keyOf: narrowKey };
  const everywhere = [
    {
      limiter: ofGuesses('logins of address', limits.perAddress),
      keyOf: ({ address }: Attempt) => address,
    },
    narrow,
    { limiter: ofGuesses('logins of account', limits.perAccount), keyOf: ({ name }: Attempt) => name },
  ];
  const countsOf = ({ device }: Attempt) => (device === undefined ? everywhere : [narrow]);

  /** Takes an attempt off the first counts, or off all: no password was tried, or the right one. */
  async function giveBack(attempt: Attempt, howMany = everywhere.length): Promise<void> {
    for (const { limiter, keyOf } of countsOf(attempt).slice(0, howMany))
      await limiter.giveBack(keyOf(attempt));
  }

  return {
    /**
     * Counts an attempt.
     * @returns 0, or the seconds to wait if a limit is reached; the attempt is then counted nowhere
     */
    async take(attempt: Attempt): Promise<number> {
      for (const [index, { limiter, keyOf }] of countsOf(attempt).entries()) {
        const wait = await limiter.take(keyOf(attempt));
        if (wait === 0) continue;
        await giveBack(attempt, index);
        return wait;
      }
      return 0;
    },
    giveBack,
    /** Forgets the failures of a person who has now logged in, at this address alone. */
    forget: (attempt: Attempt) => perAccountAndAddress.reset(narrowKey(attempt)),
  };
}

/**
 * Creates the login check. An attempt is counted before the password is looked at, so that parallel guesses count
 * as well. It is given back if it was right, or if the server failed; an attempt that finds no place in the password queue
 * counts (T-206). An unknown e-mail address costs the same time
 * and gets the same answer as a wrong password, and so does a disabled account (T-116). A hash with parameters of former times is made anew (T-120).
 * If an attempt cannot be counted, the password is not looked at.
 */
export function createLogin(
  accounts: AccountStore,
  hasher: PasswordHasher,
  limits: LoginLimits,
  limiters: Limiters = memoryLimiters,
): Login {
  const counts = createAttemptCounts(limits, limiters);

  async function check(name: string, password: string, callers: readonly string[]): Promise<LoginResult> {
    const account = await accounts.findByEmail(name);
    const matches = await hasher.verify(password, account?.passwordHash, callers);
    if (!account) return { outcome: 'refused' };
    if (!matches || account.disabledAt !== undefined) return { outcome: 'refused', accountId: account.id };
    return { outcome: 'accepted', account: await withCurrentHash(account, password, callers) };
  }

  /** The account as it is stored once its hash has today's parameters. */
  async function withCurrentHash(
    account: Account,
    password: string,
    callers: readonly string[],
  ): Promise<Account> {
    if (!hasher.isOutdated(account.passwordHash)) return account;
    const passwordHash = await hasher.hash(password, callers);
    const replaced = await accounts.rehash(account.id, account.passwordHash, passwordHash);
    return replaced ? { ...account, passwordHash } : account;
  }

  return async (email, password, address, device) => {
    const name = normalizeEmail(email);
    if (name.length > maxEmailCharacters) return { outcome: 'refused' };
    const attempt = { name, address, device };
    const wait = await counts.take(attempt);
    if (wait > 0) return { outcome: 'throttled', retryAfterSeconds: wait };
    try {
      const result = await check(name, password, callersOf(attempt));
      if (result.outcome === 'accepted') {
        await counts.giveBack(attempt);
        await counts.forget(attempt);
      }
      return result;
    } catch (error) {
      if (error instanceof PasswordQueueFull) return { outcome: 'busy', retryAfterSeconds: 2 };
      await counts.giveBack(attempt);
      throw error;
    }
  };
}
