import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ClientStore } from '../../storage/clients.ts';
import { payloadContext } from '../engine/adapter.ts';
import { AdministrationRefused } from './administration-refused.ts';

/** A registered client as an operator sees it. What it says about itself is as it said it. */
export interface RegisteredClient {
  clientId: string;
  name: string;
  redirectUris: string[];
  /** Epoch seconds. */
  createdAt: number;
}

/** What an operator does to clients. */
export function administerClients(clients: ClientStore, box: SealedBox) {
  return {
    /** Gives all registered clients, oldest first. */
    async list(): Promise<RegisteredClient[]> {
      return (await clients.list()).map((row) => {
        const metadata = JSON.parse(box.open(row.payload, payloadContext('Client', row.id)));
        return {
          clientId: row.id,
          name: String(metadata.client_name ?? ''),
          redirectUris: metadata.redirect_uris ?? [],
          createdAt: row.createdAt,
        };
      });
    },
    /** Removes a client with its grants and tokens. @throws AdministrationRefused where there is none */
    async remove(clientId: string): Promise<void> {
      if (!(await clients.remove(clientId)))
        throw new AdministrationRefused('There is no client with this id.');
    },
  };
}
