import { describe, expect, it } from 'vitest';
import { payloadContext } from '../../../../src/authorization-server/engine/stored-rows.ts';
import { createSealedBox } from '../../../../src/crypto/sealed-box.ts';
import { newInstallation, operate, withInstallation } from '../../support/installation.ts';

/** Keeps a client as the registration endpoint does. */
async function register(folder: string, id: string, metadata: object): Promise<void> {
  await withInstallation(folder, async ({ storage, keys }) => {
    const payload = createSealedBox(keys.sealing).seal(
      JSON.stringify(metadata),
      payloadContext('Client', id),
    );
    await storage.clients.put({ id, payload, createdAt: 1_800_000_000 });
  });
}

describe('gatehouse client', () => {
  it('list shows id, time, name and redirect URIs, and never a secret (T-192)', async () => {
    const data = await newInstallation();
    await register(data, 'c1', {
      client_name: 'An app',
      redirect_uris: ['http://127.0.0.1/cb'],
      client_secret: 'the secret of c1',
    });
    const table = (await operate(['client', 'list', '--data', data])).stdout;
    expect(table.split('\n')[1]).toMatch(
      /^c1 +registered +approved +2027-01-15T08:00:00\.000Z +never +0 +An app +http:\/\/127\.0\.0\.1\/cb$/,
    );
    const json = (await operate(['client', 'list', '--json', '--data', data])).stdout;
    expect(JSON.parse(json)).toEqual([
      {
        clientId: 'c1',
        kind: 'registered',
        status: 'approved',
        name: 'An app',
        redirectUris: ['http://127.0.0.1/cb'],
        createdAt: 1_800_000_000,
        grants: 0,
      },
    ]);
    expect(table + json).not.toContain('secret');
  });

  it('list gives a terminal nothing to act on, whatever a client calls itself (T-059, T-190)', async () => {
    const data = await newInstallation();
    const name = `\u001b[31mred\u001b]8;;https://evil.example\u0007link\u202ehidden\nline ${'x'.repeat(500)}`;
    await register(data, 'c1', { client_name: name, redirect_uris: ['https://a.example/cb'] });
    const table = (await operate(['client', 'list', '--data', data])).stdout;
    expect(table.split('\n')).toHaveLength(3);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(table).toMatch(/red.*…/);
    const json = (await operate(['client', 'list', '--json', '--data', data])).stdout;
    expect(json).not.toContain('\u001b');
    expect((JSON.parse(json) as { name: string }[])[0]?.name).toBe(name);
  });

  it('show says all a client says about itself, but its secret, and gives a terminal nothing to act on (T-059, T-190)', async () => {
    const data = await newInstallation();
    const said = {
      client_name: 'An \u001b[31mapp',
      redirect_uris: ['https://a.example/cb'],
      client_secret: 'hidden',
    };
    await register(data, 'c1', said);
    const text = (await operate(['client', 'show', 'c1', '--data', data])).stdout;
    expect(text).toMatch(/^Client ID +c1$/m);
    expect(text).toMatch(/^Status +approved$/m);
    expect(text).toMatch(/^ {2}redirect_uris +\["https:\/\/a\.example\/cb"\]$/m);
    const json = (await operate(['client', 'show', 'c1', '--json', '--data', data])).stdout;
    expect(JSON.parse(json)).toMatchObject({
      clientId: 'c1',
      metadata: { redirect_uris: said.redirect_uris },
    });
    expect(text + json).not.toContain('hidden');
    expect(text + json).not.toContain('\u001b');
    await expect(operate(['client', 'show', 'c2', '--data', data])).rejects.toThrow('There is no client');
  });

  it('approve and deny decide about a client that waits', async () => {
    const data = await newInstallation();
    await register(data, 'c1', { client_name: 'An app' });
    const denied = await operate(['client', 'deny', 'c1', '--data', data]);
    expect(denied.stdout).toBe('Denied. Its tokens have ended, and nobody can log in with it.\n');
    expect((await operate(['client', 'list', '--data', data])).stdout).toMatch(/^c1 +registered +denied/m);
    const approved = await operate(['client', 'approve', 'c1', '--json', '--data', data]);
    expect(JSON.parse(approved.stdout)).toEqual({ clientId: 'c1', status: 'approved' });
    await expect(operate(['client', 'approve', 'c2', '--data', data])).rejects.toThrow('There is no client');
  });

  it('remove takes the client away; a second time says that there is none (T-192)', async () => {
    const data = await newInstallation();
    await register(data, 'c1', { client_name: 'An app' });
    const args = ['client', 'remove', 'c1', '--data', data];
    expect((await operate(args)).stdout).toBe('Removed. Its tokens have ended; it can register again.\n');
    await expect(operate(args)).rejects.toThrow('There is no client with this id.');
    expect((await operate(['client', 'list', '--json', '--data', data])).stdout).toBe('[]\n');
  });
});
