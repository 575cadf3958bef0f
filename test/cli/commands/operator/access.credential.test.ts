import { describe, expect, it } from 'vitest';
import { registerCredential } from '../../../../src/cli/commands/operator/access.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

const run = (...args: string[]) => runCommand(registerCredential, ['credential', ...args]);

/** An installation in which its account has entered a key. */
async function install(): Promise<{ data: string[]; email: string }> {
  const folder = await newInstallation();
  const email = await withInstallation(folder, async ({ storage }) => {
    const [first] = await storage.accounts.list();
    const key = { accountId: first?.id ?? '', route: 'notion', name: 'apiKey' };
    await storage.backendCredentials.put(key, Buffer.from('planted'), 1_800_000_000);
    return first?.email ?? '';
  });
  return { data: ['--data', folder], email };
}

describe('gatehouse credential', () => {
  it('lists who has entered what, as a table and as JSON, without values (T-191)', async () => {
    const { data, email } = await install();
    const { stdout } = await run('list', ...data);
    expect(stdout).toContain('ACCOUNT');
    expect(stdout).toMatch(new RegExp(`${email} +notion +apiKey +2027-01-15T08:00:00.000Z`));
    const json = (await run('list', '--account', email, '--json', ...data)).stdout;
    expect(JSON.parse(json)).toMatchObject([{ email, route: 'notion', name: 'apiKey' }]);
    expect(stdout + json).not.toContain('planted');
  });

  it('removes it, and says where there is nothing to remove', async () => {
    const { data, email } = await install();
    const wrong = await run('remove', 'notion', '--name', 'other', ...data);
    expect(wrong.error).toMatchObject({ message: expect.stringContaining('gatehouse credential list') });
    expect((await run('remove', 'notion', '--account', email, '--name', 'apiKey', ...data)).stdout).toBe(
      'Removed: 1.\n',
    );
    expect(JSON.parse((await run('list', '--json', ...data)).stdout)).toEqual([]);
  });
});
