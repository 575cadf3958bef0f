import type { Command } from 'commander';
import {
  type ClientContext,
  ClientError,
  clientOf,
  credentialKey,
  revokeCredential,
} from '../../../client/index.ts';
import { type KeptLogin, openTokenFile, type TokenFile } from '../../../client/node/index.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type CommandIo, formatJson, printableLine, processIo, programName } from '../../output.ts';
import { explainFailure } from './client-failure.ts';
import { traceOption } from './connection-options.ts';
import { findLogin, keptServer } from './stored-login.ts';
import { withTrace } from './trace.ts';

/** Options of `gatehouse logout`, as commander parses them. */
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
 * Runs `gatehouse logout`: ends logins at their authorization servers and deletes them here. If a server cannot be reached,
 * its login is kept, so that it can be ended later. Succeeds if there is no login.
 * @param url URL of the MCP server; undefined with `all`
 * @param options `all`: every login, and every client whose issuer has none left; `local`: only delete
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
    io.stderr.write(`${printableLine(`Deleted the details of the ended login to ${server}`)}\n`);
  for (const { issuer, clientId } of forgottenClients)
    io.stderr.write(`${printableLine(`Deleted the client ${clientId} of ${issuer}`)}\n`);
  if (options.json)
    io.stdout.write(formatJson({ loggedOut: endings, forgottenLogins: forgotten, forgottenClients }));
  if (failure instanceof CliError)
    throw new CliError(
      `${failure.message} The login is still stored.`,
      failure.exitCode,
      'To delete it here without ending it there: --local',
    );
  if (failure !== undefined) throw failure;
}

/** Adds `gatehouse logout`. */
export function registerLogout(program: Command, io: CommandIo = processIo()): void {
  const command = program
    .command('logout')
    .description('end a login at its authorization server, and delete it here')
    .argument('[url]', 'URL of the MCP server')
    .option('--all', 'end every login, and delete all stored clients')
    .option('--local', 'only delete it here; the token stays valid')
    .option(...traceOption)
    .option('--json', 'print what was logged out of as JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  ${programName} logout http://localhost:3000/mcp\n  ${programName} logout --all`,
    );
  command.action((url: string | undefined, options: LogoutOptions) => runLogout(url, options, io));
}

/** The result of a logout: revoked by its issuer, or only deleted here, and why. */
export interface Ending {
  server: string;
  revoked: boolean;
  why: string | null;
}

/** Rejections after which the issuer does not know the login, or never will. */
const final = new Set<ClientError['reason']>(['token_refused', 'client_unknown', 'bad_key']);

/**
 * Revokes a login at its issuer and deletes it, even if another process has renewed it meanwhile. If the issuer rejects the
 * request, the login is deleted anyway; if it does not respond, the login is kept, so that it can be ended later.
 * @param login the login to end
 * @param store the stored logins
 * @param options `local`: only delete it; `context`: fetch and clock
 * @throws ClientError if there was no response
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
  if (local) return forget(false, 'you gave --local');
  const { issuer } = credential.authorizationServer;
  const holder = clientOf(credential, await store.findRegistration(issuer, credential.clientId));
  try {
    const revoked = await revokeCredential(context, credential, holder);
    return await forget(revoked, revoked ? null : `${issuer} cannot revoke tokens`);
  } catch (error) {
    if (error instanceof ClientError && final.has(error.reason)) return forget(false, error.message);
    throw error;
  }
}

/** A client that was deleted here. */
export interface ForgottenClient {
  issuer: string;
  clientId: string;
}

/**
 * Drops the clients of issuers at which there is no login.
 * @param store the stored clients
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
