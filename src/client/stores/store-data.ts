import { createKeyedQueue } from '../../collections/fair-queue.ts';
import { formerLogin } from '../session/former-login.ts';
import {
  type Credential,
  type CredentialStore,
  credentialKey,
  type FormerLogin,
  type Registration,
} from './credential-store.ts';

/** The content of a credential store as plain data. */
export interface StoreData {
  /** Client of the next login, by issuer. */
  registrations: Record<string, Registration>;
  /** Replaced clients to which a stored credential was issued, by issuer and client id. */
  replaced: Record<string, Registration>;
  /** By {@link credentialKey}. */
  credentials: Record<string, Credential>;
  /** Key of the credential of the latest login, by canonical URL of the MCP server. */
  logins: Record<string, string>;
  /** The latest login that its issuer has ended, by canonical URL of the MCP server. */
  ended: Record<string, FormerLogin>;
}

/** Creates the content of an empty store. */
export function emptyStoreData(): StoreData {
  return { registrations: {}, replaced: {}, credentials: {}, logins: {}, ended: {} };
}

const clientKey = ({ issuer, clientId }: Pick<Registration, 'issuer' | 'clientId'>): string =>
  JSON.stringify([issuer, clientId]);

/** Deletes the replaced clients to which no stored credential was issued. */
function dropUnused(book: StoreData): void {
  const inUse = new Set(
    Object.values(book.credentials).map(({ authorizationServer: { issuer }, clientId }) =>
      clientKey({ issuer, clientId }),
    ),
  );
  book.replaced = Object.fromEntries(Object.entries(book.replaced).filter(([key]) => inUse.has(key)));
}

/** Returns the registration with this client id at an issuer; without an id, that of the next login there. */
export function findRegistrationIn(
  book: StoreData,
  issuer: string,
  clientId?: string,
): Registration | undefined {
  const latest = book.registrations[issuer];
  if (clientId === undefined || latest?.clientId === clientId) return latest;
  return book.replaced[clientKey({ issuer, clientId })];
}

/**
 * Stores a registration for the next login at its issuer. The earlier one is kept for the credentials issued
 * to it.
 */
export function putRegistration(book: StoreData, registration: Registration): void {
  const before = book.registrations[registration.issuer];
  if (before !== undefined) book.replaced[clientKey(before)] = before;
  delete book.replaced[clientKey(registration)];
  book.registrations[registration.issuer] = registration;
  dropUnused(book);
}

/** Returns the credential of the latest login to a server. */
export function findIn(book: StoreData, server: string): Credential | undefined {
  const key = Object.hasOwn(book.logins, server) ? book.logins[server] : undefined;
  return key !== undefined && Object.hasOwn(book.credentials, key) ? book.credentials[key] : undefined;
}

/** Returns the latest login to a server, even if it has ended. */
export function findFormerIn(book: StoreData, server: string): FormerLogin | undefined {
  const held = findIn(book, server);
  if (held !== undefined) return formerLogin(held);
  return Object.hasOwn(book.ended, server) ? book.ended[server] : undefined;
}

/**
 * Stores a credential as that of the server, unless the server's credential is no longer the one that was
 * renewed. Credentials without a login are deleted: they could be neither used nor revoked.
 */
export function putCredential(
  book: StoreData,
  server: string,
  credential: Credential,
  renewed?: Credential,
): void {
  const held = findIn(book, server);
  const key = credentialKey(credential);
  if (renewed !== undefined && held !== undefined && held.accessToken !== renewed.accessToken) {
    // Another server may still use the renewed credential.
    if (book.credentials[key]?.accessToken === renewed.accessToken) book.credentials[key] = credential;
    return;
  }
  book.credentials[key] = credential;
  book.logins[server] = key;
  delete book.ended[server];
  const inUse = new Set(Object.values(book.logins));
  book.credentials = Object.fromEntries(Object.entries(book.credentials).filter(([one]) => inUse.has(one)));
  dropUnused(book);
}

/** Deletes a credential and the logins that use it, if its access token is still the same. */
export function dropCredential(book: StoreData, credential: Credential): void {
  const key = credentialKey(credential);
  if (book.credentials[key]?.accessToken !== credential.accessToken) return;
  delete book.credentials[key];
  book.logins = Object.fromEntries(Object.entries(book.logins).filter(([, held]) => held !== key));
  dropUnused(book);
}

/** Deletes a credential in the same way, and remembers its logins as ended. */
export function endCredential(book: StoreData, credential: Credential): void {
  const before = Object.keys(book.logins);
  dropCredential(book, credential);
  for (const server of before)
    if (!Object.hasOwn(book.logins, server)) book.ended[server] = formerLogin(credential);
}

/** Deletes the registration with this client id. */
export function dropRegistration(book: StoreData, issuer: string, clientId: string): void {
  if (book.registrations[issuer]?.clientId === clientId) delete book.registrations[issuer];
  delete book.replaced[clientKey({ issuer, clientId })];
}

/** Creates a store that lives as long as the process, for tests and for hosts that persist nothing. */
export function createMemoryStore(): CredentialStore {
  const book = emptyStoreData();
  return {
    findRegistration: async (issuer, clientId) => structuredClone(findRegistrationIn(book, issuer, clientId)),
    saveRegistration: async (registration) => putRegistration(book, structuredClone(registration)),
    forgetRegistration: async (issuer, clientId) => dropRegistration(book, issuer, clientId),
    findCredential: async (server) => structuredClone(findIn(book, server)),
    saveCredential: async (server, credential, renewed) =>
      putCredential(book, server, structuredClone(credential), renewed),
    forgetCredential: async (credential) => dropCredential(book, credential),
    endCredential: async (credential) => endCredential(book, credential),
    findFormerLogin: async (server) => structuredClone(findFormerIn(book, server)),
    exclusively: createKeyedQueue(),
  };
}
