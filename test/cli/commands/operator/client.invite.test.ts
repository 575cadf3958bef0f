import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { invitationId } from '../../../../src/authorization-server/engine/stored-rows.ts';
import { newInstallation, operate, withInstallation } from '../../support/installation.ts';

describe('gatehouse client invite', () => {
  it('prints an initial access token, once, on standard output alone (T-065)', async () => {
    const data = await newInstallation();
    const { stdout, stderr } = await operate(['client', 'invite', '--data', data]);
    expect(stdout).toMatch(/^invite_[\w-]{43}\n$/);
    expect(stderr).toMatch(/^Shown once\. For 1 client, until 20/);
    expect(stderr).not.toContain(stdout.trim());
    const json = await operate(['client', 'invite', '--uses', '5', '--days', '1', '--json', '--data', data]);
    expect(JSON.parse(json.stdout)).toMatchObject({ uses: 5, token: expect.stringMatching(/^invite_/) });
    const kept = await withInstallation(data, ({ storage }) =>
      storage.invitations.find(invitationId(stdout.trim())),
    );
    expect(kept?.usesLeft).toBe(1);
  });

  it('says where the settings ask nobody for an invitation', async () => {
    const data = await newInstallation();
    const args = ['client', 'invite', '--data', data];
    expect((await operate(args)).stderr).toContain('no effect while clients.registration is open');
    const config = join(data, 'gatehouse.json');
    writeFileSync(config, JSON.stringify({ clients: { registration: 'initial_access_token' } }));
    expect((await operate([...args, '--config', config])).stderr).not.toContain('of no use');
  });

  it('takes whole numbers within bounds', async () => {
    const data = await newInstallation();
    for (const option of [
      ['--uses', '0'],
      ['--days', 'many'],
      ['--days', '366'],
    ])
      await expect(operate(['client', 'invite', ...option, '--data', data])).rejects.toThrow(
        'A whole number from 1',
      );
  });
});
