import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret, randomSecret } from '../../crypto/secret.ts';
import { type Account, passwordResetKind } from '../../storage/accounts.ts';
import type { Storage } from '../../storage/storage.ts';
import { createBrowserLogins } from '../account/browser-logins.ts';
import { AdministrationRefused } from './administration-refused.ts';
import { findAccount } from './find-account.ts';

/** What the access of people is looked after with. */
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

/** How long a reset works (T-123). */
const resetSeconds = 3600;

/** What an operator does about the logins of people. */
export function administerAccountAccess({ storage, box, now }: AccountAccessOptions) {
  const { accounts, artifacts, passkeys, oneTimeCodes } = storage;
  const byEmail = (email: string): Promise<Account> => findAccount(accounts, email);
  const browsers = createBrowserLogins(storage, box, now);

  return {
    /**
     * Makes a one-time link with which a person sets a new password: 128 random bits, stored as a hash, for an hour.
     * @throws AdministrationRefused where there is no such account, or it is disabled
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
    /** Gives the logins of an account in browsers. @throws AdministrationRefused where there is none */
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
