import { expect, it } from 'vitest';
import { registerPins } from '../../../src/cli/commands/pins.ts';
import { newInstallation, withInstallation } from '../support/installation.ts';
import { runCommand } from '../support/operator.ts';

const definition = (description: string) => JSON.stringify({ name: 'read', description });

async function withPins(): Promise<string> {
  const data = await newInstallation();
  await withInstallation(data, async ({ storage: { toolPins } }) => {
    const tools = ['read', 'add'].map((tool) => ({
      tool,
      hash: `${tool}-1`,
      definition: definition('Reads.'),
    }));
    await toolPins.add('notes', tools, 1_700_000_000);
    for (const tool of ['read', 'add'])
      await toolPins.noteChange(
        'notes',
        { tool, hash: `${tool}-2`, definition: definition('Tells \u001b[2J all.') },
        1_700_000_100,
      );
  });
  return data;
}

it('gatehouse pins list shows what changed, without what a terminal obeys (T-160, T-190)', async () => {
  const data = await withPins();
  const { stdout } = await runCommand(registerPins, ['pins', 'list', '--data', data]);
  expect(stdout).toMatch(/notes +read +2023-\S+ +2023-\S+ +description: "Tells .*all\."/);
  expect(stdout).not.toContain('\u001b');
  const other = await runCommand(registerPins, ['pins', 'list', 'files', '--json', '--data', data]);
  expect(JSON.parse(other.stdout)).toEqual([]);
});

it('gatehouse pins accept takes one change or all, and refuses one there is not; it is noted (T-192, T-197)', async () => {
  const data = await withPins();
  const accept = (...tools: string[]) =>
    runCommand(registerPins, ['pins', 'accept', 'notes', ...tools, '--data', data]);
  expect((await accept('read')).stdout).toBe('Accepted: read.\n');
  expect((await accept('read')).error).toMatchObject({
    message: expect.stringContaining('No change is noted of read'),
  });
  expect((await accept()).stdout).toBe('Accepted: add.\n');
  expect((await accept()).stdout).toBe('No tool of notes has changed.\n');
  await withInstallation(data, async ({ administration }) => {
    const events = await administration.audit.list({ event: 'tool.', limit: 10 });
    expect(events.map(({ event, details }) => [event, details.tool])).toEqual([
      ['tool.definition_accepted', 'read'],
      ['tool.definition_accepted', 'add'],
    ]);
  });
});

it('gatehouse pins forget forgets one, or all of a route', async () => {
  const data = await withPins();
  const forget = (...tool: string[]) =>
    runCommand(registerPins, ['pins', 'forget', 'notes', ...tool, '--data', data]);
  expect((await forget('read')).stdout).toBe('Forgot 1 of notes.\n');
  expect((await forget()).stdout).toBe('Forgot 1 of notes.\n');
});
