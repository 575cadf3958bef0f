import { randomUUID } from 'node:crypto';
import { checkPassword, createPasswordHasher, randomPassword } from '../../crypto/password.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, randomSecret } from '../../crypto/secret.ts';
import {
  type Account,
  type AccountStore,
  type KnownIdentity,
  normalizeEmail,
  passwordResetKind,
} from '../../storage/accounts.ts';
import type { Storage } from '../../storage/storage.ts';
import { createBrowserLogins } from '../account/browser-logins.ts';
import { AdministrationRefused } from './administration-refused.ts';

/** An account as an operator sees it. */
export interface AccountSummary {
  id: string;
  email: string;
  /** Epoch seconds. */
  createdAt: number;
  /** Since when it is disabled, epoch seconds; absent while it is not. */
  disabledAt?: number;
  /** Names of the upstreams it is linked with; absent if there are none. */
  upstreams?: string[];
}

/** One account, with who it is at identity providers. */
export interface ShownAccount extends AccountSummary {
  /** Identities at upstreams; absent if there are none. */
  identities?: KnownIdentity[];
}

/** One `@`, no blanks, nothing a terminal or a page would act on (T-190). */
const emailShape = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

function summarize({ id, email, createdAt, disabledAt }: Account): AccountSummary {
  return { id, email, createdAt, ...(disabledAt === undefined ? undefined : { disabledAt }) };
}

/**
 * Operations on accounts.
 * @param now epoch seconds
 */
export function administerAccounts(
  { accounts, identities, upstreams }: Pick<Storage, 'accounts' | 'identities' | 'upstreams'>,
  now: () => number,
) {
  const hasher = createPasswordHasher();

  async function withUpstreams(account: Account): Promise<AccountSummary> {
    const linked = (await upstreams.listOfAccount(account.id)).map(({ upstream }) => upstream);
    return { ...summarize(account), ...(linked.length === 0 ? undefined : { upstreams: linked }) };
  }

  async function hash(password: string): Promise<string> {
    const fault = checkPassword(password);
    if (fault) throw new AdministrationRefused('invalid', fault);
    return hasher.hash(password);
  }

  const byEmail = (email: string): Promise<Account> => findAccount(accounts, email);

  return {
    /** Returns a fresh random password, for a person to keep. */
    suggestPassword: randomPassword,
    /**
     * Adds an account.
     * @throws AdministrationRefused if the address or the password will not do, or is taken
     */
    async add(email: string, password: string): Promise<AccountSummary> {
      const name = normalizeEmail(email);
      if (name.length > 254 || !emailShape.test(name))
        throw new AdministrationRefused('invalid', `"${printableEmail(email)}" is not an e-mail address.`);
      const account = { id: `acct_${randomUUID()}`, email: name, createdAt: now() };
      if (!(await accounts.add({ ...account, passwordHash: await hash(password) })))
        throw new AdministrationRefused('already_exists', `There is an account ${name} already.`);
      return account;
    },
    /** Returns all accounts, by e-mail address. */
    async list(): Promise<AccountSummary[]> {
      return Promise.all((await accounts.list()).map(withUpstreams));
    },
    /**
     * Returns one account.
     * @throws AdministrationRefused if there is none
     */
    async show(email: string): Promise<ShownAccount> {
      const account = await byEmail(email);
      const known = await identities.listOf(account.id);
      return {
        ...(await withUpstreams(account)),
        ...(known.length === 0 ? undefined : { identities: known }),
      };
    },
    /** Shuts an account: no login, and every session and token ends at once. @throws AdministrationRefused */
    async disable(email: string): Promise<void> {
      await accounts.setDisabled((await byEmail(email)).id, now());
    },
    /**
     * Opens a disabled account again; what ended stays ended.
     * @throws AdministrationRefused if there is none
     */
    async enable(email: string): Promise<void> {
      await accounts.setDisabled((await byEmail(email)).id, undefined);
    },
    /**
     * Removes an account with its notes, sessions and tokens.
     * @throws AdministrationRefused if there is none
     */
    async remove(email: string): Promise<void> {
      await accounts.remove((await byEmail(email)).id);
    },
    /** Sets a password and ends every session and token of the account. @throws AdministrationRefused */
    async setPassword(email: string, password: string): Promise<void> {
      const { id } = await byEmail(email);
      await accounts.setPassword(id, await hash(password));
    },
  };
}

/** Options of the operations on logins. */
export interface AccountAccessOptions {
  storage: Pick<Storage, 'accounts' | 'artifacts' | 'passkeys' | 'oneTimeCodes' | 'upstreams'>;
  box: SealedBox;
  /** Epoch seconds. */
  now: () => number;
}

/** A way to set a password anew, for whoever holds it. */
export interface PasswordReset {
  /** Path and query of the link, below the public URL. */
  path: string;
  /** Epoch seconds. */
  expiresAt: number;
}

/** Lifetime of a password reset link, in seconds (T-123). */
const resetSeconds = 3600;

/** Operations on the logins of users. */
export function administerAccountAccess({ storage, box, now }: AccountAccessOptions) {
  const { accounts, artifacts, passkeys, oneTimeCodes } = storage;
  const byEmail = (email: string): Promise<Account> => findAccount(accounts, email);
  const browsers = createBrowserLogins(storage, box, now);

  return {
    /**
     * Makes a one-time link with which a person sets a new password: 128 random bits, stored as a hash, for an hour.
     * @throws AdministrationRefused if there is no such account, or it is disabled
     */
    async startPasswordReset(email: string): Promise<PasswordReset> {
      const account = await byEmail(email);
      if (account.disabledAt !== undefined)
        throw new AdministrationRefused('not_possible', 'This account is disabled. Enable it first.');
      const key = randomSecret(16);
      const expiresAt = now() + resetSeconds;
      const id = hashSecret(passwordResetKind, key);
      const payload = new Uint8Array();
      const reset = { kind: passwordResetKind, id, payload, expiresAt, accountId: account.id };
      const result = await artifacts.commit([{ type: 'put', ...reset }]);
      if (!result.committed)
        throw new AdministrationRefused('not_found', 'The account was removed meanwhile.');
      return { path: `/account/reset?key=${key}`, expiresAt };
    },
    /**
     * Returns the logins of an account in browsers.
     * @throws AdministrationRefused if there is none
     */
    async listSessions(email: string): Promise<{ id: string; loggedInAt: number }[]> {
      const logins = await browsers.list((await byEmail(email)).id);
      return logins.map(({ id, loggedInAt }) => ({ id, loggedInAt }));
    },
    /** Ends the logins of an account in browsers, and gives how many; apps go on. @throws AdministrationRefused */
    async endSessions(email: string): Promise<number> {
      return browsers.endOthers((await byEmail(email)).id);
    },
    /** Removes passkeys and one-time codes, for somebody who has lost their device. @throws AdministrationRefused */
    async removeFactors(email: string): Promise<{ passkeys: number; oneTimeCodes: boolean }> {
      const { id } = await byEmail(email);
      const kept = await passkeys.listOf(id);
      const removed = await Promise.all(kept.map((passkey) => passkeys.remove(id, passkey.id)));
      return { passkeys: removed.filter(Boolean).length, oneTimeCodes: await oneTimeCodes.disable(id) };
    },
  };
}

/** An address as it may stand in a message to a terminal without what hides or acts (T-190). */
export function printableEmail(email: string): string {
  return email.slice(0, 100).replace(/\p{C}/gu, '');
}

/**
 * Finds an account by its e-mail address.
 * @throws AdministrationRefused if there is none
 */
export async function findAccount(accounts: AccountStore, email: string): Promise<Account> {
  const account = await accounts.findByEmail(email);
  if (account) return account;
  throw new AdministrationRefused(
    'not_found',
    `There is no account ${printableEmail(normalizeEmail(email))}.`,
  );
}
