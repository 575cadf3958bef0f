import { describe, expect, it } from 'vitest';
import { adviseOnNodes, registerNodes } from '../../../../src/cli/commands/operator/nodes.ts';
import { newInstallation, withInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

const node = {
  ...{ id: 'a', address: '10.0.0.1:7001', version: '1.2.3', startedAt: 1_800_000_000 },
  ...{ settingsHash: 'like-all', refusesFile: false, isAlive: true, sessions: 0 },
};

describe('gatehouse nodes', () => {
  it('lists address, version, state, settings and sessions of each node', async () => {
    const data = await newInstallation();
    await withInstallation(data, ({ storage: { nodes } }) => nodes.beat(node));
    const { stdout, stderr, error } = await runCommand(registerNodes, ['nodes', '--data', data]);
    expect(stdout).toMatch(/^ID +ADDRESS +VERSION +STARTED +STATE +SETTINGS +SESSIONS\n/);
    expect(stdout).toMatch(/^a +10\.0\.0\.1:7001 +1\.2\.3 +2027-\S+ +alive +like-all +0$/m);
    expect([stderr, error]).toEqual(['', undefined]);
    const json = await runCommand(registerNodes, ['nodes', '--json', '--data', data]);
    expect(JSON.parse(json.stdout)).toEqual({ nodes: [node], warnings: [] });
  });

  it('warns if the settings of nodes that are alive differ, and names a node that refused its config file', async () => {
    const data = await newInstallation();
    await withInstallation(data, async ({ storage: { nodes } }) => {
      await nodes.beat(node);
      await nodes.beat({
        ...{ ...node, id: 'b', address: '10.0.0.2:7001' },
        ...{ settingsHash: 'other', refusesFile: true },
      });
    });
    const { stdout, stderr } = await runCommand(registerNodes, ['nodes', '--data', data]);
    expect(stdout).toMatch(/other \(refused its config file\)/);
    expect(stderr).toContain('different settings');
    expect(stderr).toContain('The node at 10.0.0.2:7001 could not use its config file');
    const json = await runCommand(registerNodes, ['nodes', '--json', '--data', data]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      nodes: [{ id: 'a' }, { id: 'b' }],
      warnings: [expect.any(String), expect.any(String)],
    });
  });

  it('says so if there are none', async () => {
    const { stdout } = await runCommand(registerNodes, ['nodes', '--data', await newInstallation()]);
    expect(stdout).toBe('No node with cluster.port has run within the last day.\n');
  });

  it('compares only nodes that are alive', () => {
    expect(adviseOnNodes([node, { ...node, settingsHash: 'old', isAlive: false }])).toEqual([]);
  });
});
