// Flows of `gatehouse reload` and `gatehouse nodes` with two nodes as processes (src/composition/cluster.ts).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { generateMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../client/support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { commandLine, runGatehouse } from '../../support/served.ts';

const server = usePostgres();

interface Node {
  config: string;
  program: Program;
  write(more: object): void;
}

async function startNode(env: Record<string, string>, publicUrl: string): Promise<Node> {
  const config = join(testFolder(), 'gatehouse.json');
  const write = (more: object): void =>
    writeFileSync(
      config,
      JSON.stringify({
        ...{ publicUrl, listen: { port: 0 }, cluster: { port: 0 }, dangerously: { trustOtherPorts: true } },
        storage: { postgres: { env: 'DATABASE_URL' }, masterKey: { env: 'MASTER_KEY' } },
        ...more,
      }),
    );
  write({});
  const program = runProgram(commandLine, ['serve', '--config', config, '--json'], { input: '', env });
  onTestFinished(() => program.stop());
  await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  return { config, program, write };
}

it('gatehouse reload at one node has all nodes read their own config files, and names one that cannot use its file', async () => {
  const env = { DATABASE_URL: await server().createDatabase(), MASTER_KEY: generateMasterKey() };
  const publicUrl = `http://localhost:${await freePort()}`;
  const [here, there] = [await startNode(env, publicUrl), await startNode(env, publicUrl)];
  const run = (command: string) => runGatehouse([command, '--config', here.config, '--json'], { env });
  const before = JSON.parse((await run('nodes')).stdout);
  expect(before).toMatchObject({ nodes: [{ isAlive: true }, { isAlive: true }], warnings: [] });
  expect(before.nodes[0].settingsHash).toBe(before.nodes[1].settingsHash);

  const reloaded = await run('reload');
  expect(JSON.parse(reloaded.stdout)).toMatchObject({ nodes: [{ outcome: 'reloaded' }] });
  await there.program.waitFor('stderr', /gatehouse reload at another node/);

  there.write({ limits: { unknown: 1 } });
  const refused = await run('reload');
  expect(refused.code).toBe(exitCodes.usage);
  expect(JSON.parse(refused.stdout)).toMatchObject({ nodes: [{ outcome: 'refused' }] });
  expect(refused.stderr).toContain('Another node could not use its config file');
  await expect
    .poll(async () => JSON.parse((await run('nodes')).stdout).warnings, { timeout: 10_000, interval: 500 })
    .toEqual([expect.stringContaining('could not use its config file')]);
});
