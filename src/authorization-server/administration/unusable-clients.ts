import { readSettingsClients, type SettingsClient } from '../operator-clients/settings-clients.ts';

/** Settings that concern the operator's clients. */
export interface SettingsOfClients {
  clients: { preRegistered: readonly SettingsClient[]; clientCredentials: boolean };
  trustedIssuers: readonly unknown[];
  tokenExchange: readonly unknown[];
}

/**
 * Finds the clients of the settings a server would not start with, such as one whose secret cannot be read. Which scopes
 * there are is known at the start alone, so that every one counts as known here.
 * @returns a sentence a problem, with the setting it is about
 */
export function findUnusableClients({ clients, trustedIssuers, tokenExchange }: SettingsOfClients): string[] {
  return readSettingsClients(clients.preRegistered, {
    scopes: clients.preRegistered.flatMap(({ scopes = [] }) => scopes),
    clientCredentials: clients.clientCredentials,
    trustedIssuers: trustedIssuers.length > 0,
    tokenExchange: tokenExchange.length > 0,
  }).problems;
}
