import type { Credential, DiscoveredServer } from '../../../client/index.ts';
import type { KeptLogin, TokenFileState } from '../../../client/node/index.ts';
import type { CliError } from '../../cli-error.ts';
import { type CommandIo, createPaint, printableLine } from '../../output.ts';
import { formatFittedTable } from '../../table.ts';

/** A login; where it was tried, whether it works, and why not. */
export interface ShownLogin extends KeptLogin {
  isChecked?: boolean;
  failure?: CliError;
}

/**
 * Says how long a login lasts.
 * @param credential the login
 * @param now epoch seconds
 */
export function describeEnd({ expiresAt, refreshToken, grant }: Credential, now: number): string {
  const renewable = refreshToken !== undefined || grant !== undefined;
  if (expiresAt === undefined) return renewable ? 'unknown, renewed when refused' : 'unknown';
  const minutes = Math.round((expiresAt - now) / 60);
  if (expiresAt <= now) return renewable ? 'renewed at the next call' : 'has ended';
  const left = minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
  return renewable ? `${left}, then renewed` : left;
}

const stateOf = ({ failure }: ShownLogin): string => (failure === undefined ? 'works' : failure.message);

/**
 * One login, a line for each thing that is known of it.
 * @param login what is shown, without any secret
 * @param io where it is shown, and the time
 */
export function formatLogin(login: ShownLogin, io: CommandIo): string {
  const { server, credential } = login;
  const { authorizationServer, clientId, scopes, dpopKey } = credential;
  const rows = [
    ['Server', server],
    ['Authorization server', authorizationServer.issuer],
    ['Client', clientId],
    ['Scopes', scopes?.join(' ') ?? 'not named by the server'],
    ['Ends', describeEnd(credential, io.now())],
    ['Token', dpopKey === undefined ? 'bearer' : 'bound to a key of this machine'],
    ...(login.isChecked ? [['State', stateOf(login)]] : []),
  ];
  const paint = createPaint(io.stdout, io.env);
  const width = Math.max(...rows.map(([name = '']) => name.length));
  return rows
    .map(([name = '', value = '']) => `${paint('dim', name.padEnd(width))}  ${printableLine(value)}\n`)
    .join('');
}

/**
 * Logins as a table.
 * @param logins what is shown, without any secret; all were tried, or none
 * @param io where it is shown, and the time
 */
export function formatLogins(logins: readonly ShownLogin[], io: CommandIo): string {
  const isChecked = logins.some((login) => login.isChecked);
  const heading = ['SERVER', 'AUTHORIZATION SERVER', 'SCOPES', 'ENDS', ...(isChecked ? ['STATE'] : [])];
  const rows = logins.map((login) => {
    const { server, credential } = login;
    const { authorizationServer, scopes = [] } = credential;
    const cells = [server, authorizationServer.issuer, scopes.join(' '), describeEnd(credential, io.now())];
    return isChecked ? [...cells, stateOf(login)] : cells;
  });
  const width = io.stdout.columns;
  return formatFittedTable(heading, rows, {
    paint: createPaint(io.stdout, io.env),
    ...(width === undefined ? {} : { width }),
  });
}

/** @returns a login as JSON, without any secret (T-191) */
export function loginAsJson(login: ShownLogin): Record<string, unknown> {
  const { server, credential, isChecked, failure } = login;
  const state = failure === undefined ? { works: true } : { works: false, why: failure.message };
  return { ...describeCredential(server, credential), ...(isChecked ? state : {}) };
}

/**
 * A credential as it may be shown: without tokens, keys and secrets (T-191).
 * @param server canonical URL of the MCP server
 * @param credential the login
 */
export function describeCredential(server: string, credential: Credential): Record<string, unknown> {
  const { authorizationServer, resource, clientId, scopes, expiresAt, refreshToken, grant, dpopKey } =
    credential;
  return {
    server,
    issuer: authorizationServer.issuer,
    resource,
    client: clientId,
    scopes: scopes ?? null,
    expiresAt: expiresAt ?? null,
    renewable: refreshToken !== undefined || grant !== undefined,
    bound: dpopKey !== undefined,
  };
}

/**
 * What was asked for and not granted: the server does not have it, or the person left it out.
 * @param asked scopes that the user named
 * @param credential the login
 * @see RFC 6749 section 3.3
 */
export function ungrantedScopes(asked: readonly string[] = [], { scopes }: Credential): string[] {
  return scopes === undefined ? [] : asked.filter((scope) => !scopes.includes(scope));
}

/** The result of a login, as JSON, with the scopes that were asked for and not granted. */
export function summarizeLogin(
  { server }: DiscoveredServer,
  credential: Credential,
  { path, sealedWith }: TokenFileState,
  notGranted: readonly string[],
): Record<string, unknown> {
  const login = describeCredential(server, credential);
  return { ...login, notGranted, tokenFile: path, sealedWith: sealedWith ?? null };
}

/** Says where a login is kept, and how (CL-13). */
export function describeStore({ path, sealedWith, whyPlain }: TokenFileState): string {
  if (sealedWith !== undefined) return `The login is kept in ${path}, sealed with a key in ${sealedWith}`;
  const why = whyPlain === undefined ? '' : `, because it cannot be sealed: ${whyPlain}`;
  return `The login is kept in ${path}, in plain text that only you can read${why}`;
}
