import type { Command } from 'commander';
import { type KeptLogin, openTokenFile } from '../../../client/node/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, formatJson, processIo, programName } from '../../output.ts';
import { explainFailure } from './client-failure.ts';
import { timeoutOption } from './connection-options.ts';
import { formatLogin, formatLogins, loginAsJson, type ShownLogin } from './login-text.ts';
import { requireLogin } from './stored-login.ts';
import { withServer } from './with-server.ts';

/** Options of `gatehouse whoami`, as commander parses them. */
export interface WhoamiOptions {
  check?: boolean;
  /** Seconds. */
  timeout?: number;
  trace?: boolean;
  json?: boolean;
}

async function check({ server }: KeptLogin, { timeout, trace }: WhoamiOptions, io: CommandIo) {
  try {
    await withServer(server, io, async () => undefined, { timeout, trace });
    return undefined;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

/**
 * Runs `gatehouse whoami`: shows the stored logins without any secret, and with `--check` if they work.
 * @param url URL of one MCP server; undefined for all of them
 * @param options `check`: connects with each; `json`: one object, for all of them `{ "logins": [...] }`
 * @throws CliError exit code 3 without the login of `url`, or any; with `check` that of the first login that does not work
 */
export async function runWhoami(
  url: string | undefined,
  options: WhoamiOptions,
  io: CommandIo,
): Promise<void> {
  let logins: ShownLogin[];
  try {
    const store = openTokenFile(io.env);
    logins = url === undefined ? await store.listLogins() : [await requireLogin(store, url)];
    if (options.check)
      for (const login of logins) {
        const failure = await check(login, options, io);
        Object.assign(login, { isChecked: true, failure });
      }
  } catch (error) {
    throw explainFailure(error, url ?? '');
  }
  const [first] = logins;
  if (url !== undefined && first !== undefined)
    io.stdout.write(options.json ? formatJson(loginAsJson(first)) : formatLogin(first, io));
  else if (options.json) io.stdout.write(formatJson({ logins: logins.map(loginAsJson) }));
  else if (first !== undefined) io.stdout.write(formatLogins(logins, io));
  if (first === undefined)
    throw new CliError('There is no login.', exitCodes.loginNeeded, `Run: ${programName} login <url>`);
  const failed = logins.flatMap(({ failure }) => failure ?? []);
  const [reason] = failed;
  if (reason === undefined) return;
  if (url !== undefined) throw reason;
  throw new CliError(`${failed.length} of ${logins.length} logins do not work.`, reason.exitCode);
}

/** Adds `gatehouse whoami`. */
export function registerWhoami(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('whoami')
    .description('show the stored logins')
    .argument('[url]', 'URL of one MCP server')
    .option('--check', 'connect with each login to see if it works')
    .option(...timeoutOption)
    .option('--trace', 'print each HTTP exchange of --check on standard error, without secrets')
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\nExample:\n  ${programName} whoami --check`);
  command.action((url: string | undefined, options: WhoamiOptions) => runWhoami(url, options, io));
}
