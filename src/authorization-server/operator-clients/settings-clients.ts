import { readFileSync } from 'node:fs';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ClientStore } from '../../storage/clients.ts';
import { payloadContext } from '../engine/stored-rows.ts';
import { tokenExchangeGrant } from '../token-exchange/exchange-rule.ts';
import { jwtBearerGrant } from '../trusted-issuers/trusted-issuer.ts';
import { checkChosenSecret, hashClientSecret } from './client-secret.ts';
import { checkOperatorClient, type OperatorClient, toMetadata } from './operator-client.ts';

/** A client as the settings have it: its secret as a hash, or in a file. */
export interface SettingsClient extends Omit<OperatorClient, 'secretExpiresAt' | 'jwks'> {
  /** Path of the file with the secret. */
  secretFile?: string | undefined;
  /** Expiry of its secret, an RFC 3339 time. */
  secretExpires?: string | undefined;
  /** Its public keys, as they were read. */
  jwks?: unknown;
}

/** Facts of the installation that the clients in the settings must fit. */
export interface InstallationFacts {
  /** Scopes there are. */
  scopes: readonly string[];
  /** True if clients may act for themselves here. */
  clientCredentials: boolean;
  /** True if anybody's assertions are taken, and whether tokens are exchanged. */
  trustedIssuers: boolean;
  tokenExchange: boolean;
}

/** Result of reading the settings: clients, or problems. */
export interface ReadClients {
  clients: OperatorClient[];
  /** Each begins with the setting it is about. */
  problems: string[];
}

function readSecret(file: string): { secret: string } | { problem: string } {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    const fault = checkChosenSecret(secret);
    return fault ? { problem: `secretFile: the secret in it ${fault}` } : { secret };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `secretFile: ${file} cannot be read${code ? ` (${code})` : ''}` };
  }
}

function checkFit({ grantTypes, scopes = [] }: OperatorClient, facts: InstallationFacts): string[] {
  const unknown = scopes.filter((scope) => !facts.scopes.includes(scope));
  const needless = grantTypes.includes('client_credentials') && !facts.clientCredentials;
  return [
    ...(unknown.length > 0
      ? [`scopes: there is no ${unknown.join(', ')} here; there are ${facts.scopes.join(', ')}`]
      : []),
    ...(needless ? ['grantTypes: client_credentials needs clients.clientCredentials to be true'] : []),
    ...(grantTypes.includes(jwtBearerGrant) && !facts.trustedIssuers
      ? [`grantTypes: ${jwtBearerGrant} needs trustedIssuers`]
      : []),
    ...(grantTypes.includes(tokenExchangeGrant) && !facts.tokenExchange
      ? [`grantTypes: ${tokenExchangeGrant} needs tokenExchange`]
      : []),
  ];
}

function readClient(given: SettingsClient, facts: InstallationFacts): ReadClients {
  const { secretFile, secretExpires, ...rest } = given;
  const read = secretFile === undefined ? undefined : readSecret(secretFile);
  const secretHash = read && 'secret' in read ? hashClientSecret(read.secret) : given.secretHash;
  const client: OperatorClient = {
    ...rest,
    jwks: given.jwks as OperatorClient['jwks'],
    secretHash,
    ...(secretExpires === undefined ? {} : { secretExpiresAt: Math.floor(Date.parse(secretExpires) / 1000) }),
  };
  if (read && 'problem' in read) return { clients: [], problems: [read.problem] };
  const twice = secretFile !== undefined && given.secretHash !== undefined;
  return {
    clients: [client],
    problems: [
      ...(twice ? ['secretFile: is one way and secretHash another; leave one of them out'] : []),
      ...checkOperatorClient(client),
      ...checkFit(client, facts),
    ],
  };
}

/**
 * Reads the clients of the settings, and their secrets out of their files.
 * @returns the clients, and every problem
 */
export function readSettingsClients(given: readonly SettingsClient[], facts: InstallationFacts): ReadClients {
  const read = given.map((client) => readClient(client, facts));
  const ids = given.map(({ clientId }) => clientId);
  const problems = read.flatMap(({ problems: found }, at) =>
    [...found, ...(ids.indexOf(ids[at] ?? '') < at ? ['clientId: another client has it already'] : [])].map(
      (problem) => `clients.preRegistered.${at}.${problem}`,
    ),
  );
  return { clients: read.flatMap(({ clients }) => clients), problems };
}

/**
 * Makes these the clients of the settings in the storage: they are found like others, win over any other of the same id,
 * and one that was taken out ends with all that was issued to it (A5-01, A5-03).
 * @param nowSeconds epoch seconds
 * @returns the ids of those that were taken out
 */
export function keepSettingsClients(
  store: ClientStore,
  box: SealedBox,
  clients: readonly OperatorClient[],
  nowSeconds: number,
): Promise<string[]> {
  return store.replaceSettings(
    clients.map((client) => ({
      id: client.clientId,
      payload: box.seal(JSON.stringify(toMetadata(client)), payloadContext('Client', client.clientId)),
      createdAt: nowSeconds,
    })),
  );
}
