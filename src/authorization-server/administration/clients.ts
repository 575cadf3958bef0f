import { createTextSeal, type SealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import { createSealedClientIds } from '../registration/sealed-client-ids.ts';
import { type AddedClient, addClient, type ClientToAdd } from './add-client.ts';
import { AdministrationRefused } from './administration-refused.ts';
import { type IssuedInvitation, inviteClient } from './invite-client.ts';
import { type KnownClient, type ShownClient, showDocument, showRegistered } from './known-clients.ts';

const inSettings =
  'This client stands in the settings: change clients.preRegistered there, and start the server again.';

/**
 * What an operator does to clients.
 * @param now epoch seconds
 */
export function administerClients(
  { clients, clientDocuments, invitations }: Pick<Storage, 'clients' | 'clientDocuments' | 'invitations'>,
  box: SealedBox,
  now: () => number,
) {
  const sealedIds = createSealedClientIds(createTextSeal(box), now);

  async function showAll(): Promise<ShownClient[]> {
    const registered = (await clients.list()).map((row) => showRegistered(box, row));
    const documents = (await clientDocuments.list()).map((row) => showDocument(box, row));
    return [...registered, ...documents];
  }

  async function refuseSettings(clientId: string): Promise<void> {
    if ((await clients.find(clientId))?.origin === 'settings')
      throw new AdministrationRefused('not_possible', inSettings);
  }

  async function decide(clientId: string, status: 'approved' | 'denied'): Promise<void> {
    await refuseSettings(clientId);
    if (await clients.decide(clientId, status, now())) return;
    if ((await clientDocuments.find(clientId)) !== undefined)
      throw new AdministrationRefused(
        'not_possible',
        'This client is known by its document: name its host in clients.metadataDocuments.allowedHosts or deniedHosts.',
      );
    throw new AdministrationRefused(
      'not_found',
      'There is no client with this id. The list of clients has their ids.',
    );
  }

  return {
    /** Adds a client; its secret is given once. @throws AdministrationRefused naming every problem */
    add: (client: ClientToAdd): Promise<AddedClient> => addClient(clients, box, now, client),
    /** Gives all clients, registered ones first, oldest first, then those known by documents. */
    async list(): Promise<KnownClient[]> {
      return (await showAll()).map(({ metadata: _metadata, ...client }) => client);
    },
    /** Gives a client with all it says about itself. @throws AdministrationRefused where there is none */
    async show(clientId: string): Promise<ShownClient> {
      const client = (await showAll()).find((one) => one.clientId === clientId);
      if (!client)
        throw new AdministrationRefused(
          'not_found',
          'There is no client with this id. The list of clients has their ids.',
        );
      return client;
    },
    /** Lets a client in that waits, or was denied. @throws AdministrationRefused where there is none to decide about */
    approve: (clientId: string): Promise<void> => decide(clientId, 'approved'),
    /** Keeps a client out; its grants and tokens end. @throws AdministrationRefused where there is none to decide about */
    deny: (clientId: string): Promise<void> => decide(clientId, 'denied'),
    /** Makes an invitation to register; its token is given once. @throws AdministrationRefused for bad numbers */
    invite: (wanted: { uses: number; lifeSeconds: number }): Promise<IssuedInvitation> =>
      inviteClient(invitations, wanted, now()),
    /**
     * Removes a client with its grants and tokens.
     * @throws AdministrationRefused where there is none, or where it stands in the settings and would come back
     */
    async remove(clientId: string): Promise<void> {
      await refuseSettings(clientId);
      // An id that holds its registration is good by itself: it has to be remembered that it is not.
      const rememberAt = sealedIds.open(clientId) === undefined ? undefined : now();
      if (!(await clients.remove(clientId, rememberAt)))
        throw new AdministrationRefused(
          'not_found',
          'There is no client with this id. The list of clients has their ids.',
        );
    },
  };
}
