import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { Account } from '../../storage/accounts.ts';

/** How long the second step of a login may take. */
const pendingSeconds = 300;

/** Keeps who has given the right password and owes a code. Nothing is stored: the page carries it, sealed. */
export interface PendingLogins {
  /** @param binding the page and browser it is for; it opens nowhere else */
  seal(account: Account, binding: string): string;
  /** Gives the id of the account and a digest of its password hash; undefined where it has expired or is not ours. */
  open(pending: string, binding: string): { accountId: string; passwordDigest: string } | undefined;
}

/** What a changed password is noticed by. */
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
