import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { ClientError, LoginRequiredError } from '../client-error.ts';
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
import { gatehouseHome } from './home.ts';
import { type Keychain, systemKeychain } from './keychain.ts';
import { readPrivateFile, replacePrivateFile, requirePrivateFolder, TokenFileError } from './private-file.ts';
import { createTokenFileSeal, parseSealedText, type Sealing } from './token-file-seal.ts';

/** A stored login. */
export interface KeptLogin {
  /** Canonical URL of the MCP server. */
  server: string;
  credential: Credential;
}

/** The storage of the logins of a file. */
export interface TokenFileState {
  path: string;
  /** The keychain with the key of the file; undefined if the file is plain or missing. */
  sealedWith?: string | undefined;
  /** The reason why the keychain could not be used, if that was tried. */
  whyPlain?: string | undefined;
}

/** The credential store of one folder. */
export interface TokenFile extends CredentialStore {
  /** Returns the latest login to every server, by URL. */
  listLogins(): Promise<KeptLogin[]>;
  /** Returns the registration for the next login at every issuer, by issuer. */
  listRegistrations(): Promise<Registration[]>;
  /**
   * Deletes the records of ended logins, see `endCredential`.
   * @param server canonical URL of the MCP server; undefined for all
   * @returns the servers of these logins
   */
  forgetEnded(server: string | undefined): Promise<string[]>;
  /** Returns how the logins are stored, without opening them. */
  describe(): Promise<TokenFileState>;
}

/** Options of {@link createTokenFile}. */
export interface TokenFileOptions {
  /** See {@link Sealing}; without it, an existing file stays as it is, and a new one is plain. */
  sealing?: Sealing | undefined;
  /** The keychain with the key of a sealed file (default: that of the operating system). */
  keychain?: Keychain | undefined;
}

/** Returns the path of the token file in a folder. */
export function tokenFilePath(folder: string): string {
  return join(folder, 'tokens.json');
}

/**
 * Creates a store of registrations and credentials in `tokens.json`. The file is readable by its owner only,
 * replaced atomically, safely shared by any number of processes, and sealed if that is chosen.
 * @param folder the folder, see `gatehouseHome`; created at the first write
 * @param options sealing and keychain
 * @returns the store; its methods throw TokenFileError if the file is a link, damaged, readable by others, or
 *   sealed with a key that is not reachable
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
 * Adds the probable cause to the error of a lost login: a process that is killed between redeeming a refresh
 * token and storing the new one leaves a used token.
 */
function explainTakeover(error: unknown): never {
  if (!(error instanceof LoginRequiredError)) throw error;
  throw new LoginRequiredError(
    error.server,
    `${error.message} A process that renewed it was killed, maybe before it could keep the new token.`,
    error.before,
  );
}

const privateJwk = z.object({ kty: z.string() }).catchall(z.string());

const registration = z.object({
  issuer: z.string(),
  clientId: z.string(),
  clientSecret: z.string().optional(),
  clientSecretExpiresAt: z.number().optional(),
  privateKey: privateJwk.optional(),
  tokenEndpointAuthMethod: z.string().optional(),
  redirectUris: z.array(z.string()),
  source: z.enum(['given', 'dynamic', 'metadata_document']),
});

const credential = z.object({
  authorizationServer: z.object({
    issuer: z.string(),
    token_endpoint: z.string(),
    revocation_endpoint: z.string().optional(),
    token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  }),
  resource: z.string(),
  withoutResource: z.literal(true).optional(),
  clientId: z.string(),
  accessToken: z.string(),
  expiresAt: z.number().optional(),
  renewAt: z.number().optional(),
  refreshToken: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  dpopKey: privateJwk.optional(),
  grant: z
    .object({
      type: z.literal('client_credentials'),
      clientSecret: z.string().optional(),
      privateKey: privateJwk.optional(),
      tokenEndpointAuthMethod: z.string().optional(),
    })
    .optional(),
  workload: z.literal(true).optional(),
});

const formerLogin = z.object({
  issuer: z.string().optional(),
  machine: z
    .object({
      grant: z.enum(['client_credentials', 'workload_identity']),
      clientId: z.string(),
      proof: z.enum(['secret', 'key', 'assertion']),
    })
    .optional(),
  chosen: z
    .object({ dpop: z.literal(true).optional(), withoutResource: z.literal(true).optional() })
    .optional(),
});

const tokenFile = z.object({
  version: z.literal(1),
  registrations: z.record(z.string(), registration),
  replaced: z.record(z.string(), registration).default({}),
  credentials: z.record(z.string(), credential),
  logins: z.record(z.string(), z.string()),
  ended: z.record(z.string(), formerLogin).default({}),
});

/**
 * Parses the text of a token file.
 * @returns undefined for anything that is no token file of this version
 */
export function parseTokenFile(text: string): StoreData | undefined {
  try {
    const { version: _, ...book } = tokenFile.parse(JSON.parse(text));
    return book;
  } catch {
    return undefined;
  }
}

/** Returns the text of a token file. */
export function formatTokenFile(book: StoreData): string {
  return `${JSON.stringify({ version: 1, ...book }, null, 2)}\n`;
}

/** All values of {@link Sealing}. */
export const sealings = ['auto', 'keychain', 'plain'] as const satisfies readonly Sealing[];

/**
 * Opens the logins of this user: in `$GATEHOUSE_HOME`, stored as `$GATEHOUSE_STORE` says.
 * @param env environment variables
 * @param chosen takes precedence over `$GATEHOUSE_STORE`; default `auto` (CL-13)
 * @throws ClientError `unknown_store` if `$GATEHOUSE_STORE` has another value
 */
export function openTokenFile(
  env: Readonly<Record<string, string | undefined>>,
  chosen?: Sealing,
): TokenFile {
  const named = chosen ?? (env.GATEHOUSE_STORE || 'auto');
  const sealing = sealings.find((one) => one === named);
  if (sealing === undefined)
    throw new ClientError('unknown_store', `GATEHOUSE_STORE has to be one of ${sealings.join(', ')}.`);
  return createTokenFile(gatehouseHome(env), { sealing, keychain: systemKeychain(process.platform, env) });
}
