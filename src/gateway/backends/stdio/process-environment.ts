import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Environment variables that every process inherits. All others must be named (T-154). */
const always = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'] as const;

/** The environment of a backend. */
interface BackendEnvironment {
  env: Record<string, string>;
  /** Values of the named variables, which are redacted in the log. */
  secrets: string[];
  /** Named variables that are not set. */
  missing: string[];
}

/** Shorter values are ordinary words, and are not redacted. */
const minSecretLength = 6;

/**
 * Builds the environment of a backend's processes.
 * @param given names of environment variables that are passed on, or variables with their values
 * @param ours environment of this process
 */
export function backendEnvironment(
  given: readonly string[] | Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string | undefined>>,
): BackendEnvironment {
  if (isNames(given)) return byName(given, ours);
  const { env, secrets } = byName([], ours);
  return { env: { ...env, ...given }, secrets: [...secrets, ...secretsOf(given)], missing: [] };
}

/**
 * Returns the values that are redacted in the log. A value of several lines, such as a PEM key, is redacted line by
 * line.
 */
export function secretsOf(env: Readonly<Record<string, string>>): string[] {
  return Object.values(env)
    .flatMap((value) => value.split(/[\r\n]+/))
    .map((line) => line.trim())
    .filter(({ length }) => length >= minSecretLength);
}

function isNames(given: readonly string[] | Readonly<Record<string, string>>): given is readonly string[] {
  return Array.isArray(given);
}

/**
 * Removes the final line end of a value of one line. A value of several lines may be a key, and some readers need its
 * last line end.
 */
function withoutLineEnd(value: string): string {
  return value.replace(/^([^\r\n]*)[\r\n]+$/, '$1');
}

function byName(
  names: readonly string[],
  ours: Readonly<Record<string, string | undefined>>,
): BackendEnvironment {
  const env: Record<string, string> = {};
  for (const name of [...always, ...names]) {
    const value = Object.hasOwn(ours, name) ? ours[name] : undefined;
    if (value !== undefined) env[name] = withoutLineEnd(value);
  }
  const isGiven = (name: string): boolean => Object.hasOwn(env, name);
  const handedOver = Object.fromEntries(names.filter(isGiven).map((name) => [name, String(env[name])]));
  return {
    env,
    secrets: secretsOf(handedOver),
    missing: names.filter((name) => !isGiven(name)),
  };
}

/** The private folders of accounts. */
export interface AccountFolders {
  /** Returns the folder of an account, which is created if it is missing, with mode 0700. */
  of(account: string): string;
}

const keyFile = 'key';
const keyBytes = 32;

/**
 * Creates the private folders of accounts. Their names are keyed hashes: no path reveals an account.
 * @param parent the folder that contains them, which is created if it is missing
 * @throws Error if the parent cannot be created or written, or if its key is incomplete
 */
export function createAccountFolders(parent: string): AccountFolders {
  const path = resolve(parent);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const key = openKey(join(path, keyFile));
  return {
    of(account) {
      const name = createHmac('sha256', key).update(account).digest('hex').slice(0, 32);
      const folder = join(path, name);
      mkdirSync(join(folder, 'tmp'), { recursive: true, mode: 0o700 });
      return folder;
    },
  };
}

/**
 * Reads the key, or creates it. It is written completely or not at all, and the first of two concurrent processes wins.
 */
function openKey(file: string): Buffer {
  if (!existsSync(file)) makeKey(file);
  const key = readFileSync(file);
  if (key.length === keyBytes) return key;
  throw new Error(
    `${file} is not whole: put it back from a backup, or remove it; then every account has a new folder.`,
  );
}

function makeKey(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(keyBytes), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
}
