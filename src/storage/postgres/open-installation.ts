import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createSecretFile, KeyFileFault } from '../../crypto/key-file.ts';
import type { SealingKey } from '../../crypto/sealed-box.ts';
import { randomSecret } from '../../crypto/secret.ts';
import { StorageFault } from '../storage.ts';
import { openPostgres, type PostgresInstallation, type PostgresOptions } from './storage.ts';

/** Place of a secret: a variable, a file, or what a program prints. */
type SecretSource = { env: string } | { file: string } | { command: readonly string[] };

/** The database of an installation, as its settings name it. */
export interface PostgresPlace {
  /** URL of the database, or its place. */
  postgres?: string | Exclude<SecretSource, { command: readonly string[] }> | undefined;
  masterKey?: SecretSource | undefined;
  poolSize: number;
  pooled: boolean;
}

/** Time that a command may take to print the master key, in milliseconds. */
const commandMs = 30_000;

/** Name of the file of the master key in the data folder of a node. */
export const masterKeyFile = 'gatehouse.master-key';

/**
 * Opens an installation on PostgreSQL.
 * @param data data folder of this node
 * @param env variables that may hold the URL and the master key
 * @throws StorageFault, KeyFileFault with a sentence that says what to do
 */
export async function openPostgresInstallation(
  { postgres, masterKey, poolSize, pooled }: PostgresPlace,
  data: string,
  env: NodeJS.ProcessEnv,
  notices: Pick<PostgresOptions, 'beforeUpgrade' | 'onWait' | 'signal' | 'onOtherServer'> = {},
): Promise<PostgresInstallation> {
  if (postgres === undefined) throw new TypeError('storage.postgres is not set');
  return openPostgres({
    ...{ url: await findDatabaseUrl(postgres, env), poolSize, pooled, ...notices },
    masterKey: (isNew) => findMasterKey(masterKey, { data, env, isNew }),
  });
}

/** Returns the URL of a database, or reads it from its place. @throws StorageFault */
export async function findDatabaseUrl(
  postgres: NonNullable<PostgresPlace['postgres']>,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  return typeof postgres === 'string'
    ? postgres
    : (await readSecret(postgres, env, 'storage.postgres')).trim();
}

/** Reads a secret from a variable, a file or the output of a program. */
async function readSecret(source: SecretSource, env: NodeJS.ProcessEnv, setting: string): Promise<string> {
  if ('env' in source) {
    // A secret in the place of the name must not be quoted.
    if (!/^[A-Za-z_]\w*$/.test(source.env) || parseMasterKey(source.env))
      throw new StorageFault(`${setting}: env takes the name of a variable, and not its value.`);
    const value = env[source.env];
    if (value === undefined || value === '')
      throw new StorageFault(`${setting}: the variable ${source.env} is not set.`);
    return value;
  }
  if ('command' in source) {
    const [program = '', ...args] = source.command;
    try {
      return (await promisify(execFile)(program, args, { timeout: commandMs, maxBuffer: 4_096 })).stdout;
    } catch (error) {
      // The message of the error may quote what the program printed.
      const { code } = error as { code?: unknown };
      throw new StorageFault(`${setting}: the command ${program} failed (${String(code)}).`);
    }
  }
  return readSecretFile(source.file, setting);
}

function readSecretFile(file: string, setting: string): string {
  try {
    const { mode } = statSync(file);
    if ((mode & 0o077) !== 0)
      throw new StorageFault(
        `${setting}: ${file} can be read by others (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${JSON.stringify(file)}`,
      );
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof StorageFault) throw error;
    throw new StorageFault(`${setting}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    });
  }
}

/** Place of a master key. */
interface MasterKeyPlace {
  /** Data folder, for the file that is used if no source is set. */
  data: string;
  env: NodeJS.ProcessEnv;
  /** True if the database has no keys yet. */
  isNew: boolean;
  /** Name of the source in faults; default is the setting. */
  setting?: string;
}

/** Creates the file of the master key, unless it exists. @throws StorageFault if the folder cannot be used */
function createMasterKey(file: string): void {
  try {
    if (statSync(file, { throwIfNoEntry: false })) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    createSecretFile(file, `${generateMasterKey()}\n`);
  } catch (error) {
    if (error instanceof KeyFileFault) throw error;
    throw new StorageFault(
      `The master key cannot be created in ${dirname(file)} (${(error as NodeJS.ErrnoException).code}). Let this user write the folder, or name another source in storage.masterKey.`,
      { cause: error },
    );
  }
}

/** Finds the master key; creates it in the data folder for a new installation if no source is set. */
export async function findMasterKey(
  source: SecretSource | undefined,
  { data, env, isNew, setting = 'storage.masterKey' }: MasterKeyPlace,
): Promise<SealingKey> {
  const file = join(data, masterKeyFile);
  if (source === undefined && isNew) createMasterKey(file);
  else if (source === undefined && statSync(file, { throwIfNoEntry: false }) === undefined)
    throw new KeyFileFault(
      `The keys in the database are sealed under a master key that this node does not have. Copy ${masterKeyFile} from the data folder of another node to ${data}, or name its source in storage.masterKey.`,
    );
  const text = await readSecret(source ?? { file }, env, setting);
  const key = parseMasterKey(text);
  if (!key) throw new KeyFileFault('The master key must be 32 random bytes, as base64url or hexadecimal.');
  return key;
}

/** Length of a master key, in bytes. */
const keyBytes = 32;

/** Returns a new master key as text. */
export function generateMasterKey(): string {
  return randomSecret(keyBytes);
}

/**
 * Parses the master key of an installation, under which its other keys are sealed in the database.
 * @param text 32 bytes as base64url, base64 or hexadecimal; spaces around them do not count
 * @returns undefined if it is none
 */
export function parseMasterKey(text: string): SealingKey | undefined {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64url');
  if (!/^[\w+/=-]+$/.test(trimmed) || bytes.length !== keyBytes || new Set(bytes).size < 10) return undefined;
  const fingerprint = createHash('sha256').update(bytes).digest('base64url').slice(0, 12);
  return { id: `master-${fingerprint}`, key: bytes.toString('base64url') };
}
