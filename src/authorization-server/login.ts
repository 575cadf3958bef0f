import { type PasswordHasher, PasswordQueueFull, passwordLimits } from '../crypto/password.ts';
import { type Account, type AccountStore, normalizeEmail } from '../storage/accounts.ts';
import { createLimiter, type Limit } from './limits.ts';

/** What came of a login attempt. */
export type LoginResult =
  | { outcome: 'accepted'; account: Account }
  | { outcome: 'refused' }
  /** Too many attempts, or too many at once: try again after that many seconds. */
  | { outcome: 'throttled' | 'busy'; retryAfterSeconds: number };

/** Failed logins allowed: per account, and per address over all accounts (T-117). */
export interface LoginLimits {
  perAccount: Limit;
  perAddress: Limit;
}

/** Checks a person's e-mail address and password. */
export type Login = (email: string, password: string, address: string) => Promise<LoginResult>;

/**
 * Creates the login check. An attempt is counted before the password is looked at, so that parallel guesses count
 * as well, and given back when it was right. An unknown address costs the same time and gets the same answer as a
 * wrong password (T-116). A hash with parameters of former times is made anew (T-120).
 */
export function createLogin(accounts: AccountStore, hasher: PasswordHasher, limits: LoginLimits): Login {
  const perAccount = createLimiter(limits.perAccount);
  const perAddress = createLimiter(limits.perAddress);

  return async (email, password, address) => {
    const name = normalizeEmail(email);
    const wait = Math.max(await perAccount.take(name), await perAddress.take(address));
    if (wait > 0) return { outcome: 'throttled', retryAfterSeconds: wait };
    if (Buffer.byteLength(password) > passwordLimits.maxBytes) return { outcome: 'refused' };
    try {
      const account = await accounts.findByEmail(name);
      if (!(await hasher.verify(password, account?.passwordHash)) || !account) return { outcome: 'refused' };
      await perAccount.reset(name);
      await perAddress.giveBack(address);
      if (hasher.isOutdated(account.passwordHash))
        await accounts.rehash(account.id, account.passwordHash, await hasher.hash(password));
      return { outcome: 'accepted', account };
    } catch (error) {
      if (error instanceof PasswordQueueFull) return { outcome: 'busy', retryAfterSeconds: 2 };
      throw error;
    }
  };
}
