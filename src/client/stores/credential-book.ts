import { type Credential, credentialKey, type Registration } from './credential-store.ts';

/** The content of a credential store as plain data. */
export interface CredentialBook {
  /** By issuer. */
  registrations: Record<string, Registration>;
  /** By {@link credentialKey}. */
  credentials: Record<string, Credential>;
  /** Canonical URL of an MCP server -> key of the credential of its latest login. */
  logins: Record<string, string>;
}

/** @returns a book without entries */
export function emptyBook(): CredentialBook {
  return { registrations: {}, credentials: {}, logins: {} };
}

/** @returns the credential of the latest login to a server */
export function findIn(book: CredentialBook, server: string): Credential | undefined {
  const key = Object.hasOwn(book.logins, server) ? book.logins[server] : undefined;
  return key !== undefined && Object.hasOwn(book.credentials, key) ? book.credentials[key] : undefined;
}

/** Puts a credential in and makes it the one of the server, unless that has another one by now than the one renewed. */
export function putCredential(
  book: CredentialBook,
  server: string,
  credential: Credential,
  renewed?: Credential,
): void {
  const held = findIn(book, server);
  if (renewed !== undefined && held !== undefined && held.accessToken !== renewed.accessToken) return;
  const key = credentialKey(credential);
  book.credentials[key] = credential;
  book.logins[server] = key;
}

/** Takes a credential out, with the logins that lead to it, if its access token is still the same. */
export function dropCredential(book: CredentialBook, credential: Credential): void {
  const key = credentialKey(credential);
  if (book.credentials[key]?.accessToken !== credential.accessToken) return;
  delete book.credentials[key];
  book.logins = Object.fromEntries(Object.entries(book.logins).filter(([, held]) => held !== key));
}

/** Takes a registration out, if it still has this client id. */
export function dropRegistration(book: CredentialBook, issuer: string, clientId: string): void {
  if (book.registrations[issuer]?.clientId === clientId) delete book.registrations[issuer];
}
