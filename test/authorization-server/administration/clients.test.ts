import { describe, expect, it } from 'vitest';
import { createSealedClientIds } from '../../../src/authorization-server/registration/sealed-client-ids.ts';
import { createTextSeal } from '../../../src/crypto/sealed-box.ts';
import { now, openClients } from './support/clients.ts';

describe('a client', () => {
  it('that does not exist cannot be removed, approved or denied', async () => {
    const { clients } = await openClients();
    for (const work of [clients.remove, clients.approve, clients.deny])
      await expect(work('none')).rejects.toThrow('There is no client with this id.');
    expect(await clients.list()).toEqual([]);
  });

  it('that stands in the settings is decided there', async () => {
    const { storage, clients, seal } = await openClients();
    await storage.clients.replaceSettings([{ id: 's', payload: seal('Client', 's', {}), createdAt: now }]);
    for (const work of [clients.remove, clients.approve, clients.deny])
      await expect(work('s')).rejects.toThrow('clients.preRegistered');
  });

  it('that is known by its document is decided by its host', async () => {
    const { storage, clients, seal } = await openClients();
    const url = 'https://app.example/client.json';
    const payload = seal('ClientDocument', url, {});
    await storage.clientDocuments.put({ url, payload, fetchedAt: now, freshUntil: now }, 10);
    await expect(clients.deny(url)).rejects.toThrow('clients.metadataDocuments.allowedHosts or deniedHosts');
    await clients.remove(url);
    expect(await storage.clientDocuments.find(url)).toBeUndefined();
  });

  it('whose id holds its registration stays removed', async () => {
    const { storage, clients, box } = await openClients();
    const id = createSealedClientIds(createTextSeal(box), () => now).make({ client_name: 'x' }, undefined);
    await clients.remove(id);
    expect(await storage.clients.wasRemoved(id)).toBe(true);
    await expect(clients.remove(id)).rejects.toThrow('There is no client with this id.');
  });
});
