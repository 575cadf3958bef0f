import { describe, expect, it } from 'vitest';
import { account, grant } from '../../storage/contract/subject.ts';
import { now, openClients } from './support/clients.ts';

describe('the clients of an installation', () => {
  it('are listed with how they became known, their state, last use and grants, and without secrets', async () => {
    const { storage, clients, seal } = await openClients();
    await storage.accounts.add(account('ada'));
    const said = { client_name: 'An app', redirect_uris: ['https://a.example/cb'], client_secret: 'hidden' };
    await storage.clients.put({
      id: 'c',
      payload: seal('Client', 'c', said),
      createdAt: now,
      status: 'pending',
    });
    const url = 'https://app.example/client.json';
    const payload = seal('ClientDocument', url, { client_name: 'A site', redirect_uris: [] });
    await storage.clientDocuments.put({ url, payload, fetchedAt: now - 5, freshUntil: now }, 10);
    await storage.artifacts.commit([grant('g', 'ada', url)]);
    const added = await clients.add({ name: 'Ours', redirectUris: ['https://b.example/cb'] });
    const listed = await clients.list();
    const byId = new Map(listed.map((client) => [client.clientId, client]));
    expect(byId.get('c')).toMatchObject({ kind: 'registered', status: 'pending', name: 'An app', grants: 0 });
    expect(byId.get(added.clientId)).toMatchObject({ kind: 'operator', status: 'approved', name: 'Ours' });
    expect(byId.get(url)).toEqual({
      clientId: url,
      kind: 'document',
      status: 'approved',
      name: 'A site',
      redirectUris: [],
      createdAt: now - 5,
      grants: 1,
    });
    const shown = await clients.show('c');
    expect(shown.metadata).toEqual({ client_name: 'An app', redirect_uris: ['https://a.example/cb'] });
    expect(JSON.stringify([listed, shown])).not.toContain('hidden');
    await expect(clients.show('none')).rejects.toThrow('There is no client with this id.');
  });
});
