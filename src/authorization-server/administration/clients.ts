import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ClientOrigin, ClientStore } from '../../storage/clients.ts';
import { payloadContext } from '../engine/adapter.ts';
import { type AddedClient, addClient, type ClientToAdd } from './add-client.ts';
import { AdministrationRefused } from './administration-refused.ts';

/** A registered client as an operator sees it. What it says about itself is as it said it. */
export interface RegisteredClient {
  clientId: string;
  name: string;
  redirectUris: string[];
  /** Epoch seconds. */
  createdAt: number;
  /** Who brought it. */
  origin: ClientOrigin;
}

/**
 * What an operator does to clients.
 * @param now epoch seconds
 */
export function administerClients(clients: ClientStore, box: SealedBox, now: () => number) {
  return {
    /** Adds a client; its secret is given once. @throws AdministrationRefused naming every problem */
    add: (client: ClientToAdd): Promise<AddedClient> => addClient(clients, box, now, client),
    /** Gives all registered clients, oldest first. */
    async list(): Promise<RegisteredClient[]> {
      return (await clients.list()).map((row) => {
        const metadata = JSON.parse(box.open(row.payload, payloadContext('Client', row.id)));
        return {
          clientId: row.id,
          name: String(metadata.client_name ?? ''),
          redirectUris: metadata.redirect_uris ?? [],
          createdAt: row.createdAt,
          origin: row.origin,
        };
      });
    },
    /**
     * Removes a client with its grants and tokens.
     * @throws AdministrationRefused where there is none, or where it stands in the settings and would come back
     */
    async remove(clientId: string): Promise<void> {
      if ((await clients.find(clientId))?.origin === 'settings')
        throw new AdministrationRefused(
          'This client stands in the settings: take it out of clients.preRegistered there, and start the server again.',
        );
      if (!(await clients.remove(clientId)))
        throw new AdministrationRefused('There is no client with this id.');
    },
  };
}
