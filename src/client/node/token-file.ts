import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LoginRequiredError } from '../client-error.ts';
import type { Credential, CredentialStore, Registration } from '../stores/credential-store.ts';
import {
  dropCredential,
  dropRegistration,
  emptyStoreData,
  endCredential,
  findFormerIn,
  findIn,
  findRegistrationIn,
  putCredential,
  putRegistration,
  type StoreData,
} from '../stores/store-data.ts';
import { withFileLock } from './file-lock.ts';
import type { Keychain } from './keychain/keychain.ts';
import { systemKeychain } from './keychain/system-keychain.ts';
import { readPrivateFile, replacePrivateFile, requirePrivateFolder, TokenFileError } from './private-file.ts';
import { parseSealedText } from './sealed-text.ts';
import { formatTokenFile, parseTokenFile } from './token-file-format.ts';
import { createTokenFileSeal, type Sealing } from './token-file-seal.ts';

/** A login that is kept. */
export interface KeptLogin {
  /** Canonical URL of the MCP server. */
  server: string;
  credential: Credential;
}

/** How the logins of a file are kept. */
export interface TokenFileState {
  path: string;
  /** The keychain whose key opens it; undefined for a plain file, and for one that is not there. */
  sealedWith?: string | undefined;
  /** Why the keychain could not be used, where that was tried. */
  whyPlain?: string | undefined;
}

/** The store of one folder. */
export interface TokenFile extends CredentialStore {
  /** @returns the latest login to every server, by URL */
  listLogins(): Promise<KeptLogin[]>;
  /** @returns the registration for the next login at every issuer, by issuer */
  listRegistrations(): Promise<Registration[]>;
  /**
   * Drops what is known of logins that have ended, see `endCredential`.
   * @param server canonical URL of the MCP server; undefined for all
   * @returns whose they were
   */
  forgetEnded(server: string | undefined): Promise<string[]>;
  /** @returns how the logins are kept; nothing is opened for it */
  describe(): Promise<TokenFileState>;
}

/** How a token file is kept. */
export interface TokenFileOptions {
  /** See {@link Sealing}; without it, as the file was before, and a new one plain. */
  sealing?: Sealing | undefined;
  /** Where the key of a sealed file is; the keychain of the operating system unless told. */
  keychain?: Keychain | undefined;
}

/** The place of the token file in a folder. */
export function tokenFilePath(folder: string): string {
  return join(folder, 'tokens.json');
}

/**
 * Keeps registrations and credentials in `tokens.json`: readable by its owner only, replaced as a whole, shared safely
 * by any number of processes, sealed where that is chosen.
 * @param folder the folder, see `gatehouseHome`; made at the first write
 * @param options whether the file is sealed, and with what
 * @returns the store; its methods throw TokenFileError where the file is a link, damaged, open to others, or sealed
 *   with a key that is out of reach
 * @see RFC 8252 section 8; RFC 9700 section 4.14 (A9-04, CL-13, T-188)
 */
export function createTokenFile(folder: string, options: TokenFileOptions = {}): TokenFile {
  const { sealing, keychain = systemKeychain() } = options;
  const file = tokenFilePath(folder);
  const seal = createTokenFileSeal(file, keychain, sealing);

  const open = async (text: string | undefined): Promise<StoreData> => {
    if (text === undefined) return emptyStoreData();
    const book = parseTokenFile(await seal.open(text));
    if (book === undefined) throw new TokenFileError(`${file} is damaged. Move it away, then log in again.`);
    return book;
  };
  const read = async (): Promise<StoreData> => open(await readPrivateFile(file));

  const change = async (apply: (book: StoreData) => void): Promise<void> => {
    await requirePrivateFolder(folder);
    await withFileLock(`${file}.lock`, async () => {
      const before = await readPrivateFile(file);
      const book = await open(before);
      apply(book);
      await replacePrivateFile(file, await seal.close(formatTokenFile(book), before));
    });
  };

  return {
    findRegistration: async (issuer, clientId) => findRegistrationIn(await read(), issuer, clientId),
    saveRegistration: (registration) => change((book) => putRegistration(book, registration)),
    forgetRegistration: (issuer, clientId) => change((book) => dropRegistration(book, issuer, clientId)),
    findCredential: async (server) => findIn(await read(), server),
    saveCredential: (server, credential, renewed) =>
      change((book) => putCredential(book, server, credential, renewed)),
    forgetCredential: (credential) => change((book) => dropCredential(book, credential)),
    endCredential: (credential) => change((book) => endCredential(book, credential)),
    findFormerLogin: async (server) => findFormerIn(await read(), server),
    forgetEnded: async (server) => {
      const { ended } = await read();
      const servers = Object.keys(ended).filter((one) => one === (server ?? one));
      if (servers.length === 0) return [];
      await change((book) => {
        for (const one of servers) delete book.ended[one];
      });
      return servers;
    },
    exclusively: async (key, work) => {
      await requirePrivateFolder(folder);
      const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
      return withFileLock(join(folder, `refresh-${name}.lock`), (takenOver) =>
        takenOver ? work().catch(explainTakeover) : work(),
      );
    },
    listLogins: async () => {
      const book = await read();
      return Object.keys(book.logins)
        .sort()
        .flatMap((server) => {
          const credential = findIn(book, server);
          return credential === undefined ? [] : [{ server, credential }];
        });
    },
    listRegistrations: async () => {
      const { registrations } = await read();
      return Object.values(registrations).sort((a, b) => (a.issuer < b.issuer ? -1 : 1));
    },
    describe: async () => {
      const text = await readPrivateFile(file);
      const sealedWith = text !== undefined && parseSealedText(text) ? keychain.name : undefined;
      return { path: file, sealedWith, whyPlain: seal.whyPlain() };
    },
  };
}

/**
 * A process that is killed between redeeming a refresh token and keeping the new one leaves a token that is spent: the
 * login is lost, and whoever finds that out should know why.
 */
function explainTakeover(error: unknown): never {
  if (!(error instanceof LoginRequiredError)) throw error;
  throw new LoginRequiredError(
    error.server,
    `${error.message} A process that renewed it was killed, maybe before it could keep the new token.`,
    error.before,
  );
}
