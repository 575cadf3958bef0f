import { describe, expect, it } from 'vitest';
import { AdministrationRefused } from '../../../src/authorization-server/administration/administration-refused.ts';
import { openTestAdministration } from './support/administration.ts';

const redirectUris = ['http://127.0.0.1/callback'];

describe('a client that the operator adds', () => {
  it('gets an id and, where its method needs one, a secret of 256 bits, once (A5-03)', async () => {
    const { clients } = await openTestAdministration();
    const open = await clients.add({ name: 'An app', redirectUris });
    const machine = await clients.add({
      name: 'A machine',
      clientId: 'robot',
      authMethod: 'client_secret_basic',
      grantTypes: ['client_credentials'],
      scopes: ['notes:read'],
    });
    expect(open).toEqual({ clientId: expect.stringMatching(/^client_[\w-]{24}$/) });
    expect(machine).toEqual({
      clientId: 'robot',
      clientSecret: expect.stringMatching(/^secret_[\w-]{43}$/),
    });
    const listed = await clients.list();
    expect(listed.map(({ clientId, name, kind }) => ({ clientId, name, kind }))).toEqual([
      { clientId: open.clientId, name: 'An app', kind: 'operator' },
      { clientId: 'robot', name: 'A machine', kind: 'operator' },
    ]);
    expect(JSON.stringify(listed)).not.toContain(machine.clientSecret);
  });

  it('is refused with every problem named, and under an id that is taken', async () => {
    const { clients } = await openTestAdministration();
    const refused = clients.add({ name: '', clientId: 'acct_1', redirectUris: ['javascript:alert(1)'] });
    await expect(refused).rejects.toThrow(AdministrationRefused);
    await expect(refused).rejects.toThrow(/clientId: [\s\S]*name: [\s\S]*redirectUris\.0: is refused/);
    await clients.add({ name: 'First', clientId: 'app', redirectUris });
    await expect(clients.add({ name: 'Second', clientId: 'app', redirectUris })).rejects.toThrow(
      'There is a client with this id already.',
    );
    expect((await clients.list()).map(({ name }) => name)).toEqual(['First']);
  });

  it('can be removed again, with what it was given', async () => {
    const { clients } = await openTestAdministration();
    const { clientId } = await clients.add({ name: 'An app', redirectUris });
    await clients.remove(clientId);
    expect(await clients.list()).toEqual([]);
  });
});
