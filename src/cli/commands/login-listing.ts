import type { Credential } from '../../client/index.ts';
import type { KeptLogin } from '../../client/node/index.ts';
import type { CliError } from '../cli-error.ts';
import { createPaint } from '../colour.ts';
import { type CommandIo, printableLine } from '../output.ts';
import { formatFittedTable } from '../table.ts';
import { describeCredential } from './login-summary.ts';

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
