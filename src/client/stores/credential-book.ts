import { formerLogin } from '../session/former-login.ts';
import { type Credential, credentialKey, type FormerLogin, type Registration } from './credential-store.ts';

/** The content of a credential store as plain data. */
export interface CredentialBook {
  /** By issuer: the client of the next login there. */
  registrations: Record<string, Registration>;
  /** By issuer and client id: clients that another has taken the place of, as long as a credential was issued to them. */
  replaced: Record<string, Registration>;
  /** By {@link credentialKey}. */
  credentials: Record<string, Credential>;
  /** Canonical URL of an MCP server -> key of the credential of its latest login. */
  logins: Record<string, string>;
  /** Canonical URL of an MCP server -> its latest login, where its issuer has ended it. */
  ended: Record<string, FormerLogin>;
}

/** @returns a book without entries */
export function emptyBook(): CredentialBook {
  return { registrations: {}, replaced: {}, credentials: {}, logins: {}, ended: {} };
}

const clientKey = ({ issuer, clientId }: Pick<Registration, 'issuer' | 'clientId'>): string =>
  JSON.stringify([issuer, clientId]);

/** Takes out the clients that another has taken the place of, and to which no credential was issued that is kept. */
function dropUnused(book: CredentialBook): void {
  const inUse = new Set(
    Object.values(book.credentials).map(({ authorizationServer: { issuer }, clientId }) =>
      clientKey({ issuer, clientId }),
    ),
  );
  book.replaced = Object.fromEntries(Object.entries(book.replaced).filter(([key]) => inUse.has(key)));
}

/** @returns the registration with this client id at an issuer; without an id, that of the next login there */
export function findRegistrationIn(
  book: CredentialBook,
  issuer: string,
  clientId?: string,
): Registration | undefined {
  const latest = book.registrations[issuer];
  if (clientId === undefined || latest?.clientId === clientId) return latest;
  return book.replaced[clientKey({ issuer, clientId })];
}

/** Makes a registration that of the next login at its issuer. The one before stays for the credentials issued to it. */
export function putRegistration(book: CredentialBook, registration: Registration): void {
  const before = book.registrations[registration.issuer];
  if (before !== undefined) book.replaced[clientKey(before)] = before;
  delete book.replaced[clientKey(registration)];
  book.registrations[registration.issuer] = registration;
  dropUnused(book);
}

/** @returns the credential of the latest login to a server */
export function findIn(book: CredentialBook, server: string): Credential | undefined {
  const key = Object.hasOwn(book.logins, server) ? book.logins[server] : undefined;
  return key !== undefined && Object.hasOwn(book.credentials, key) ? book.credentials[key] : undefined;
}

/** @returns what the latest login to a server was like, also where it has ended */
export function findFormerIn(book: CredentialBook, server: string): FormerLogin | undefined {
  const held = findIn(book, server);
  if (held !== undefined) return formerLogin(held);
  return Object.hasOwn(book.ended, server) ? book.ended[server] : undefined;
}

/**
 * Puts a credential in and makes it the one of the server, unless that has another one by now than the one renewed. Those
 * that no login leads to any more go: nobody could end or use them from here.
 */
export function putCredential(
  book: CredentialBook,
  server: string,
  credential: Credential,
  renewed?: Credential,
): void {
  const held = findIn(book, server);
  const key = credentialKey(credential);
  if (renewed !== undefined && held !== undefined && held.accessToken !== renewed.accessToken) {
    // Another server may go on with the one that was renewed.
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

/** Takes a credential out, with the logins that lead to it, if its access token is still the same. */
export function dropCredential(book: CredentialBook, credential: Credential): void {
  const key = credentialKey(credential);
  if (book.credentials[key]?.accessToken !== credential.accessToken) return;
  delete book.credentials[key];
  book.logins = Object.fromEntries(Object.entries(book.logins).filter(([, held]) => held !== key));
  dropUnused(book);
}

/** The same, and writes down at these logins what they were like. */
export function endCredential(book: CredentialBook, credential: Credential): void {
  const before = Object.keys(book.logins);
  dropCredential(book, credential);
  for (const server of before)
    if (!Object.hasOwn(book.logins, server)) book.ended[server] = formerLogin(credential);
}

/** Takes the registration with this client id out. */
export function dropRegistration(book: CredentialBook, issuer: string, clientId: string): void {
  if (book.registrations[issuer]?.clientId === clientId) delete book.registrations[issuer];
  delete book.replaced[clientKey({ issuer, clientId })];
}
