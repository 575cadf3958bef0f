import type { Command } from 'commander';
import {
  type ClientContext,
  ClientError,
  credentialKey,
  holderOf,
  revokeCredential,
} from '../../../client/index.ts';
import { type KeptLogin, openTokenFile, type TokenFile } from '../../../client/node/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { programName } from '../../command-text.ts';
import { type CommandIo, formatJson, printableLine, processIo } from '../../output.ts';
import { explainFailure } from './client-failure.ts';
import { traceOption } from './connection-options.ts';
import { findLogin, keptServer } from './stored-login.ts';
import { withTrace } from './trace.ts';

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

/** What became of a login: ended by its issuer, or only forgotten here, and why. */
export interface Ending {
  server: string;
  revoked: boolean;
  why: string | null;
}

/** Refusals after which the issuer knows nothing of the login any more, or never will. */
const final = new Set<ClientError['reason']>(['token_refused', 'client_unknown', 'bad_key']);

/**
 * Ends a login at its issuer and forgets it, renewed or not by another process meanwhile. Where the issuer says no, it
 * is forgotten all the same; where no answer comes, it is kept, so that it can be ended later.
 * @param login what should end
 * @param store where it is kept
 * @param options `local`: only forget it; `context`: where the request goes through
 * @throws ClientError where no answer came
 * @see RFC 7009 section 2.1
 */
export function endLogin(
  { server, credential: listed }: KeptLogin,
  store: TokenFile,
  options: { local?: boolean | undefined; context: ClientContext },
): Promise<Ending> {
  return store.exclusively(credentialKey(listed), async () => {
    const held = await store.findCredential(server);
    const isSame = held !== undefined && credentialKey(held) === credentialKey(listed);
    return endHeld({ server, credential: isSame ? held : listed }, store, options);
  });
}

async function endHeld(
  { server, credential }: KeptLogin,
  store: TokenFile,
  { local, context }: { local?: boolean | undefined; context: ClientContext },
): Promise<Ending> {
  const forget = async (revoked: boolean, why: string | null): Promise<Ending> => {
    await store.forgetCredential(credential);
    return { server, revoked, why };
  };
  if (local) return forget(false, 'you asked for it to be forgotten here only');
  const { issuer } = credential.authorizationServer;
  const holder = holderOf(credential, await store.findRegistration(issuer, credential.clientId));
  try {
    const revoked = await revokeCredential(context, credential, holder);
    return await forget(revoked, revoked ? null : `${issuer} has no way to end a login before its time`);
  } catch (error) {
    if (error instanceof ClientError && final.has(error.reason)) return forget(false, error.message);
    throw error;
  }
}

/** A client that is no longer known here. */
export interface ForgottenClient {
  issuer: string;
  clientId: string;
}

/**
 * Drops the clients of issuers at which there is no login.
 * @param store where the clients are kept
 * @returns those that were dropped
 */
export async function forgetClients(store: TokenFile): Promise<ForgottenClient[]> {
  const inUse = new Set(
    (await store.listLogins()).map(({ credential }) => credential.authorizationServer.issuer),
  );
  const forgotten: ForgottenClient[] = [];
  for (const { issuer, clientId } of await store.listRegistrations()) {
    if (inUse.has(issuer)) continue;
    await store.forgetRegistration(issuer, clientId);
    forgotten.push({ issuer, clientId });
  }
  return forgotten;
}
