import type { Context } from 'koa';
import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { Account, AccountStore } from '../../storage/accounts.ts';
import type { Limit, Limiters } from '../limits.ts';
import type { Login } from '../login.ts';
import type { KnownDevices } from './known-device.ts';
import type { Passkeys } from './passkeys.ts';
import type { SecondFactor } from './second-factor.ts';

/** Result of a login step. */
export type LoginOutcome =
  /** `amr`: how the person proved who they are (RFC 8176). */
  | { outcome: 'accepted'; account: Account; amr: string[] }
  /** The password was right, a one-time code is owed. `pending` goes with it. */
  | { outcome: 'code_needed'; pending: string }
  /** `accountId` is for the audit log alone (T-116); with `pending` the code may be tried again. */
  | { outcome: 'refused'; fault: LoginFault; accountId?: string; pending?: string }
  /** Try again after that many seconds; or, `byBrowser`, in another browser in which the account logged in before. */
  | { outcome: 'throttled'; retryAfterSeconds: number; byBrowser: boolean; pending?: string }
  /** The server has too much to do: try again after that many seconds. */
  | { outcome: 'busy'; retryAfterSeconds: number };

/** The login step that failed. */
export type LoginFault = 'password' | 'code' | 'passkey' | 'expired';

/** Options of the authentication. */
export interface AuthenticationOptions {
  accounts: AccountStore;
  login: Login;
  secondFactor: SecondFactor;
  passkeys: Passkeys;
  pending: PendingLogins;
  devices: KnownDevices;
  limits: {
    /** Wrong one-time codes of an account. */
    codes: Limit;
    /** Failed logins of an address. */
    perAddress: Limit;
  };
  limiters: Limiters;
}

/** The steps of a login, each a posted form. `binding` names the page and the browser the form belongs to. */
export interface Authentication {
  byPassword(ctx: Context, form: URLSearchParams, binding: string): Promise<LoginOutcome>;
  byCode(ctx: Context, form: URLSearchParams, binding: string): Promise<LoginOutcome>;
  byPasskey(ctx: Context, form: URLSearchParams, binding: string): Promise<LoginOutcome>;
}

/**
 * Creates the check of logins: a password, then a one-time code if the account wants one; or a passkey alone. Attempts
 * are counted before they are looked at, so that parallel ones count as well (T-117).
 */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { accounts, login, secondFactor, passkeys, pending, devices, limiters } = options;
  const wrongCodes = limiters.ofGuesses('codes of account', options.limits.codes);
  const wrongPasskeys = limiters.ofGuesses('passkeys of address', options.limits.perAddress);

  async function pendingAccount(sealed: string, binding: string): Promise<Account | undefined> {
    const known = pending.open(sealed, binding);
    const account = known && (await accounts.find(known.accountId));
    if (!account || account.disabledAt !== undefined) return undefined;
    return passwordDigest(account) === known.passwordDigest ? account : undefined;
  }

  return {
    async byPassword(ctx, form, binding) {
      const email = form.get('email') ?? '';
      const device = devices.find(ctx, email);
      const address = String(ctx.state.clientAddress);
      const result = await login(email, form.get('password') ?? '', address, device);
      if (result.outcome === 'refused') return { ...result, fault: 'password' };
      if (result.outcome === 'throttled') return { ...result, byBrowser: true };
      if (result.outcome === 'busy') return result;
      const { account } = result;
      return (await secondFactor.isNeeded(account.id))
        ? { outcome: 'code_needed', pending: pending.seal(account, binding) }
        : { outcome: 'accepted', account, amr: ['pwd'] };
    },

    async byCode(ctx, form, binding) {
      const sealed = form.get('pending') ?? '';
      const account = await pendingAccount(sealed, binding);
      if (!account) return { outcome: 'refused', fault: 'expired' };
      const key = `${devices.find(ctx, account.email) ?? ''} ${account.id}`;
      const wait = await wrongCodes.take(key);
      if (wait > 0)
        return { outcome: 'throttled', retryAfterSeconds: wait, byBrowser: true, pending: sealed };
      if (!(await secondFactor.check(account.id, form.get('code') ?? '')))
        return { outcome: 'refused', fault: 'code', accountId: account.id, pending: sealed };
      await wrongCodes.reset(key);
      return { outcome: 'accepted', account, amr: ['pwd', 'otp', 'mfa'] };
    },

    async byPasskey(ctx, form, binding) {
      const address = String(ctx.state.clientAddress);
      const wait = await wrongPasskeys.take(address);
      if (wait > 0) return { outcome: 'throttled', retryAfterSeconds: wait, byBrowser: false };
      const verified = await passkeys.verifyLogin(form.get('credential') ?? '', binding);
      const account = verified && (await accounts.find(verified.accountId));
      if (!account || account.disabledAt !== undefined)
        return { outcome: 'refused', fault: 'passkey', ...(account ? { accountId: account.id } : undefined) };
      await wrongPasskeys.giveBack(address);
      return { outcome: 'accepted', account, amr: verified.amr };
    },
  };
}

/** Maximum time for the second step of a login, in seconds. */
const pendingSeconds = 300;

/** Keeps who has given the right password and owes a code. Nothing is stored: the page carries it, sealed. */
export interface PendingLogins {
  /** @param binding the page and browser it is for; it opens nowhere else */
  seal(account: Account, binding: string): string;
  /** Returns the id of the account and a digest of its password hash; undefined if it has expired or is not ours. */
  open(pending: string, binding: string): { accountId: string; passwordDigest: string } | undefined;
}

/** Returns a digest that changes with the password. */
export function passwordDigest(account: Pick<Account, 'passwordHash'>): string {
  return hashSecret('PendingLogin', account.passwordHash);
}

/** Creates the keeping of half-done logins. @param now epoch seconds */
export function createPendingLogins(box: SealedBox, now: () => number): PendingLogins {
  const contextOf = (binding: string): string => JSON.stringify(['PendingLogin', binding]);
  return {
    seal(account, binding) {
      const state = [account.id, passwordDigest(account), now() + pendingSeconds];
      return box.seal(JSON.stringify(state), contextOf(binding)).toString('base64url');
    },
    open(pending, binding) {
      try {
        const [accountId, digest, expiresAt] = JSON.parse(
          box.open(Buffer.from(pending, 'base64url'), contextOf(binding)),
        ) as [string, string, number];
        return expiresAt > now() ? { accountId, passwordDigest: digest } : undefined;
      } catch (error) {
        if (error instanceof SealBroken) return undefined;
        throw error;
      }
    },
  };
}
