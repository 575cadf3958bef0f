import { randomUUID } from 'node:crypto';
import type { KeySet } from '../crypto/keys.ts';
import { checkPassword, createPasswordHasher, randomPassword } from '../crypto/password.ts';
import { createSealedBox } from '../crypto/sealed-box.ts';
import { normalizeEmail } from '../storage/accounts.ts';
import type { Storage } from '../storage/storage.ts';
import { payloadContext } from './engine/adapter.ts';

/** An account as an operator sees it. */
export interface AccountSummary {
  id: string;
  email: string;
  /** Epoch seconds. */
  createdAt: number;
}

/** A registered client as an operator sees it. What it says about itself is as it said it. */
export interface RegisteredClient {
  clientId: string;
  name: string;
  redirectUris: string[];
  /** Epoch seconds. */
  createdAt: number;
}

/** An operator's request that cannot be carried out; the message says why. */
export class AdministrationRefused extends Error {
  override name = 'AdministrationRefused';
}

/** One `@`, no blanks, nothing a terminal or a page would act on (T-190). */
const emailShape = /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u;

/** An address as it may stand in a message to a terminal without what hides or acts (T-190). */
function printableEmail(email: string): string {
  return email.slice(0, 100).replace(/\p{C}/gu, '');
}

/**
 * What an operator does to accounts and clients, on the database of a running server or of one that is stopped.
 * Whatever is removed takes its sessions, grants and tokens along, at once and in every process.
 * @param now epoch seconds; the clock of the machine by default
 */
export function createAdministration(
  { storage, keys }: { storage: Storage; keys: KeySet },
  now: () => number = () => Math.floor(Date.now() / 1000),
) {
  const hasher = createPasswordHasher();
  const box = createSealedBox(keys.sealing);

  async function hash(password: string): Promise<string> {
    const fault = checkPassword(password);
    if (fault) throw new AdministrationRefused(fault);
    return hasher.hash(password);
  }

  async function byEmail(email: string): Promise<string> {
    const account = await storage.accounts.findByEmail(email);
    if (!account)
      throw new AdministrationRefused(`There is no account ${printableEmail(normalizeEmail(email))}.`);
    return account.id;
  }

  return {
    accounts: {
      /** Gives a fresh random password, for a person to keep. */
      suggestPassword: randomPassword,
      /** Adds an account. @throws AdministrationRefused where the address or the password will not do, or is taken */
      async add(email: string, password: string): Promise<AccountSummary> {
        const name = normalizeEmail(email);
        if (name.length > 254 || !emailShape.test(name))
          throw new AdministrationRefused(`"${printableEmail(email)}" is not an e-mail address.`);
        const account = { id: `acct_${randomUUID()}`, email: name, createdAt: now() };
        if (!(await storage.accounts.add({ ...account, passwordHash: await hash(password) })))
          throw new AdministrationRefused(`There is an account ${name} already.`);
        return account;
      },
      /** Gives all accounts, by e-mail address. */
      async list(): Promise<AccountSummary[]> {
        return (await storage.accounts.list()).map(({ id, email, createdAt }) => ({ id, email, createdAt }));
      },
      /** Removes an account with its notes, sessions and tokens. @throws AdministrationRefused where there is none */
      async remove(email: string): Promise<void> {
        await storage.accounts.remove(await byEmail(email));
      },
      /** Sets a password and ends every session and token of the account. @throws AdministrationRefused */
      async setPassword(email: string, password: string): Promise<void> {
        const id = await byEmail(email);
        await storage.accounts.setPassword(id, await hash(password));
      },
    },
    clients: {
      /** Gives all registered clients, oldest first. */
      async list(): Promise<RegisteredClient[]> {
        return (await storage.clients.list()).map((row) => {
          const metadata = JSON.parse(box.open(row.payload, payloadContext('Client', row.id)));
          return {
            clientId: row.id,
            name: String(metadata.client_name ?? ''),
            redirectUris: metadata.redirect_uris ?? [],
            createdAt: row.createdAt,
          };
        });
      },
      /** Removes a client with its grants and tokens. @throws AdministrationRefused where there is none */
      async remove(clientId: string): Promise<void> {
        if (!(await storage.clients.remove(clientId)))
          throw new AdministrationRefused('There is no client with this id.');
      },
    },
  };
}
