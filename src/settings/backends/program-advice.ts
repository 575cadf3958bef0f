import { accessSync, constants, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';

const proxies = /^(https?|all)_proxy$/i;

/**
 * npm settings of the registry and of the way to it; npm also sets variables about itself (cache, prefix) for programs
 * that it runs.
 */
const ofNpm = /^npm_config_(registry|proxy|https_proxy|cafile|ca|strict_ssl|userconfig)$/i;

/** Programs that download what they run, with the variables that configure their network access. */
const downloaders: Readonly<Record<string, readonly RegExp[]>> = {
  ...Object.fromEntries(
    ['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bunx'].map((name) => [
      name,
      [proxies, /^NODE_EXTRA_CA_CERTS$/, ofNpm],
    ]),
  ),
  ...Object.fromEntries(
    ['uvx', 'uv', 'pipx'].map((name) => [
      name,
      [proxies, /^(SSL_CERT_FILE|REQUESTS_CA_BUNDLE|UV_(DEFAULT_)?INDEX(_URL)?|PIP_INDEX_URL)$/],
    ]),
  ),
};

/**
 * Returns the network variables of our environment that a downloading program does not receive: without them it waits
 * for its download silently.
 * @param given names of the variables that it receives
 * @returns an empty list for other programs
 */
export function findWithheldVariables(
  command: string,
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const program = basename(command);
  const patterns = Object.hasOwn(downloaders, program) ? (downloaders[program] ?? []) : [];
  const usualFile = join(environment.HOME ?? '/', '.npmrc');
  return Object.entries(environment)
    .filter(([name, value]) => {
      if (!value || given.includes(name)) return false;
      const isUsual = /^npm_config_userconfig$/i.test(name) && value === usualFile;
      return !isUsual && patterns.some((pattern) => pattern.test(name));
    })
    .map(([name]) => name)
    .sort();
}

/** The search path of `execvp` if PATH is not set. */
const usualPath = ['/bin', '/usr/bin'].join(delimiter);

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Describes why the program of a backend is missing now; it may be installed later.
 * @param command a path, or a name to find in `path`, as `execvp` does
 * @param path PATH; undefined means the default of the system
 * @returns a sentence that says what to do; undefined if the program can be started
 */
export function describeMissingProgram(command: string, path: string | undefined): string | undefined {
  const isPath = command.includes('/');
  const folders = path === '' ? [] : (path ?? usualPath).split(delimiter);
  const files = isPath ? [resolve(command)] : folders.map((folder) => join(folder || '.', command));
  if (files.some(canRun)) return undefined;
  if (/\s/.test(command.trim()))
    return 'there is no program of that name: no shell reads it, so it is the program alone, and its arguments stand in args';
  return isPath
    ? 'there is no program that can be run at this path'
    : 'there is no program of that name in PATH: install it, correct the name, or write its whole path';
}
