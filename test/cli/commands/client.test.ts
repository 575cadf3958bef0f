import { describe, expect, it } from 'vitest';
import { payloadContext } from '../../../src/authorization-server/engine/adapter.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { newInstallation, operate, withInstallation } from '../support/installation.ts';

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
      /^c1 +2027-01-15T08:00:00\.000Z +An app +http:\/\/127\.0\.0\.1\/cb$/,
    );
    const json = (await operate(['client', 'list', '--json', '--data', data])).stdout;
    expect(JSON.parse(json)).toEqual([
      { clientId: 'c1', name: 'An app', redirectUris: ['http://127.0.0.1/cb'], createdAt: 1_800_000_000 },
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

  it('remove takes the client away; a second time says that there is none (T-192)', async () => {
    const data = await newInstallation();
    await register(data, 'c1', { client_name: 'An app' });
    const args = ['client', 'remove', 'c1', '--data', data];
    expect((await operate(args)).stdout).toBe('Removed. Its tokens have ended; it can register again.\n');
    await expect(operate(args)).rejects.toThrow('There is no client with this id.');
    expect((await operate(['client', 'list', '--json', '--data', data])).stdout).toBe('[]\n');
  });
});
