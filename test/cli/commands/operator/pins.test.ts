import { expect, it } from 'vitest';
import { registerPins } from '../../../../src/cli/commands/operator/pins.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

const definition = (description: string) => JSON.stringify({ name: 'read', description });

const hashOf = (tool: string): string => (tool === 'read' ? 'a1b2' : 'c3d4').repeat(16);

async function withPins(): Promise<string> {
  const data = await newInstallation();
  await withInstallation(data, async ({ storage: { definitionPins } }) => {
    const tools = ['read', 'add'].map((tool) => ({
      kind: 'tool' as const,
      name: tool,
      hash: `${tool}-1`,
      definition: definition('Reads.'),
    }));
    await definitionPins.add('notes', tools, 1_700_000_000);
    for (const tool of ['read', 'add'])
      await definitionPins.noteChange(
        'notes',
        { kind: 'tool', name: tool, hash: hashOf(tool), definition: definition('Tells \u001b[2J all.') },
        1_700_000_100,
      );
  });
  return data;
}

it('gatehouse pins list shows what changed, without what a terminal obeys (T-160, T-190)', async () => {
  const data = await withPins();
  const { stdout } = await runCommand(registerPins, ['pins', 'list', '--data', data]);
  expect(stdout).toMatch(/notes +tool +read +2023-\S+ +2023-\S+ +(?:a1b2){5} +description: "Tells .*all\."/);
  expect(stdout).not.toContain('\u001b');
  const other = await runCommand(registerPins, ['pins', 'list', 'files', '--json', '--data', data]);
  expect(JSON.parse(other.stdout)).toEqual([]);
});

it('gatehouse pins list has definitions as JSON where JSON is asked for, and times in seconds', async () => {
  const data = await withPins();
  await withInstallation(data, ({ storage: { definitionPins } }) =>
    definitionPins.add('files', [{ kind: 'prompt', name: 'long', hash: 'h' }], 1_700_000_000),
  );
  const { stdout } = await runCommand(registerPins, ['pins', 'list', '--json', '--data', data]);
  expect(JSON.parse(stdout)).toEqual([
    { route: 'files', kind: 'prompt', name: 'long', hash: 'h', pinnedAt: 1_700_000_000 },
    ...['add', 'read'].map((tool) => ({
      route: 'notes',
      kind: 'tool',
      name: tool,
      hash: `${tool}-1`,
      pinnedAt: 1_700_000_000,
      definition: { name: 'read', description: 'Reads.' },
      changed: {
        hash: hashOf(tool),
        at: 1_700_000_100,
        definition: { name: 'read', description: 'Tells \u001b[2J all.' },
      },
    })),
  ]);
});

it('gatehouse pins accept takes the changes that were seen, and refuses one there is not; it is noted (T-192, T-197)', async () => {
  const data = await withPins();
  const accept = (...hashes: string[]) =>
    runCommand(registerPins, ['pins', 'accept', 'notes', ...hashes, '--data', data]);
  const seen = hashOf('read').slice(0, 20);
  expect((await accept(seen)).stdout).toBe('Accepted: read.\n');
  for (const gone of [seen, 'add'])
    expect((await accept(gone)).error).toMatchObject({
      message: expect.stringContaining(`No change ${gone} of the route notes is noted`),
    });
  expect((await accept(hashOf('add'))).stdout).toBe('Accepted: add.\n');
  await withInstallation(data, async ({ administration }) => {
    const events = await administration.audit.list({ event: 'definition.', limit: 10 });
    expect(events.map(({ event, details }) => [event, details.name])).toEqual([
      ['definition.accepted', 'read'],
      ['definition.accepted', 'add'],
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
