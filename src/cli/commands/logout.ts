import type { Command } from 'commander';
import { openTokenFile, type TokenFile } from '../../client/node/index.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { withTrace } from '../trace.ts';
import { explainFailure } from './client-failure.ts';
import { traceOption } from './connection-options.ts';
import { type Ending, endLogin, type ForgottenClient, forgetClients } from './end-login.ts';
import { findLogin, keptServer } from './kept-login.ts';

/** Options of `gatehouse logout`, as commander gives them. */
export interface LogoutOptions {
  all?: boolean;
  local?: boolean;
  trace?: boolean;
  json?: boolean;
}

async function chooseLogins(url: string | undefined, { all }: LogoutOptions, store: TokenFile) {
  if ((url === undefined) === (all !== true))
    throw new CliError('Name the server to log out of, or --all, and not both.', exitCodes.usage);
  if (url === undefined) return store.listLogins();
  const login = await findLogin(store, url);
  return login === undefined ? [] : [login];
}

/**
 * `gatehouse logout`: ends logins at their authorization servers and forgets them here. A login whose server cannot be
 * reached is kept, so that it can be ended later. Where there is nothing to end, there is nothing to do, and nothing is wrong.
 * @param url URL of the MCP server; undefined with `all`
 * @param options `all`: every login, and every client at whose issuer none is left; `local`: forget only
 * @param io the surroundings
 * @throws CliError
 * @see RFC 7009 section 2.1
 */
export async function runLogout(
  url: string | undefined,
  options: LogoutOptions,
  io: CommandIo,
): Promise<void> {
  const { fetch, now } = withTrace(io, options.trace);
  const context = { fetch, now };
  const endings: Ending[] = [];
  let forgottenClients: ForgottenClient[] = [];
  let forgotten: string[] = [];
  let failure: unknown;
  try {
    const store = openTokenFile(io.env);
    const logins = await chooseLogins(url, options, store);
    for (const login of logins) {
      try {
        endings.push(await endLogin(login, store, { local: options.local, context }));
      } catch (error) {
        failure ??= explainFailure(error, login.server);
      }
    }
    forgotten = await store.forgetEnded(url === undefined ? undefined : keptServer(url));
    if (options.all) forgottenClients = await forgetClients(store);
    if (logins.length === 0 && forgottenClients.length === 0 && forgotten.length === 0)
      io.stderr.write('There is no login to end.\n');
  } catch (error) {
    throw explainFailure(error, url ?? '');
  }
  for (const { server, why } of endings)
    io.stderr.write(
      `${printableLine(`Logged out of ${server}${why === null ? '' : `, only here: ${why}`}`)}\n`,
    );
  for (const server of forgotten)
    io.stderr.write(`${printableLine(`Forgot what the login to ${server} was like, which had ended`)}\n`);
  for (const { issuer, clientId } of forgottenClients)
    io.stderr.write(`${printableLine(`Forgot the client ${clientId} of ${issuer}`)}\n`);
  if (options.json)
    io.stdout.write(formatJson({ loggedOut: endings, forgottenLogins: forgotten, forgottenClients }));
  if (failure instanceof CliError)
    throw new CliError(
      `${failure.message} The login is still kept.`,
      failure.exitCode,
      'To forget it here without ending it there: --local',
    );
  if (failure !== undefined) throw failure;
}

/**
 * Adds `gatehouse logout`.
 * @param program the command line
 * @param io the surroundings
 */
export function registerLogout(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('logout')
    .description('end a login at its authorization server, and forget it')
    .argument('[url]', 'URL of the MCP server')
    .option('--all', 'end every login, and forget the clients, also those without a login')
    .option('--local', 'only forget it here; whoever has the token can go on using it')
    .option(...traceOption)
    .option('--json', 'print what was logged out of as JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  ${programName} logout http://localhost:3000/mcp\n  ${programName} logout --all`,
    );
  command.action((url: string | undefined, options: LogoutOptions) => runLogout(url, options, io));
}
