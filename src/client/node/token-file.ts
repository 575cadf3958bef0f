import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  type CredentialBook,
  dropCredential,
  dropRegistration,
  emptyBook,
  findIn,
  putCredential,
} from '../stores/credential-book.ts';
import type { CredentialStore } from '../stores/credential-store.ts';
import { withFileLock } from './file-lock.ts';
import { readPrivateFile, replacePrivateFile, requirePrivateFolder, TokenFileError } from './private-file.ts';
import { formatTokenFile, parseTokenFile } from './token-file-format.ts';

/** The place of the token file in a folder. */
export function tokenFilePath(folder: string): string {
  return join(folder, 'tokens.json');
}

/**
 * Keeps registrations and credentials in `tokens.json`: readable by its owner only, replaced as a whole, shared safely
 * by any number of processes.
 * @param folder the folder, see `gatehouseHome`; made at the first write
 * @returns the store; its methods throw TokenFileError where the file is a link, damaged, or open to others
 * @see RFC 8252 section 8; RFC 9700 section 4.14 (A9-04, T-188)
 */
export function createTokenFile(folder: string): CredentialStore {
  const file = tokenFilePath(folder);

  const read = async (): Promise<CredentialBook> => {
    const text = await readPrivateFile(file);
    if (text === undefined) return emptyBook();
    const book = parseTokenFile(text);
    if (book === undefined) throw new TokenFileError(`${file} is damaged. Move it away, then log in again.`);
    return book;
  };

  const change = async (apply: (book: CredentialBook) => void): Promise<void> => {
    await requirePrivateFolder(folder);
    await withFileLock(`${file}.lock`, async () => {
      const book = await read();
      apply(book);
      await replacePrivateFile(file, formatTokenFile(book));
    });
  };

  return {
    findRegistration: async (issuer) => (await read()).registrations[issuer],
    saveRegistration: (registration) =>
      change((book) => {
        book.registrations[registration.issuer] = registration;
      }),
    forgetRegistration: (issuer, clientId) => change((book) => dropRegistration(book, issuer, clientId)),
    findCredential: async (server) => findIn(await read(), server),
    saveCredential: (server, credential) => change((book) => putCredential(book, server, credential)),
    forgetCredential: (credential) => change((book) => dropCredential(book, credential)),
    exclusively: async (key, work) => {
      await requirePrivateFolder(folder);
      const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
      return withFileLock(join(folder, `refresh-${name}.lock`), work);
    },
  };
}
