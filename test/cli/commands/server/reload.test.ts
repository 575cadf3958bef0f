import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../../../src/cli/cli-error.ts';
import { describeNodes, describeReload } from '../../../../src/cli/commands/server/reload.ts';
import { serveControls } from '../../../../src/cli/control/control-server.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { runGatehouse } from '../../../support/served.ts';

const none = { added: [], changed: [], removed: [], kept: [] };

describe('what a reload changed', () => {
  it('has a line for each kind of change, and what waits for a restart', () => {
    const routes = { added: ['a', 'b'], changed: ['c\u001b[1m'], removed: [], kept: ['d'] };
    expect(describeReload({ routes, needRestart: ['mcp'] })).toBe(
      'added: a, b\nchanged: c\nkept: d\nneeds a restart: mcp',
    );
    expect(describeReload({ routes: none, needRestart: [] })).toBe('There are no routes.');
  });

  it('has what was changed right before, where nothing was left to change', () => {
    const earlier = {
      cause: '/etc/gate.json changed',
      secondsAgo: 0.312,
      routes: { ...none, added: ['new'], changed: ['plain', 'other'] },
    };
    expect(describeReload({ routes: { ...none, kept: ['plain'] }, needRestart: [], earlier })).toBe(
      'kept: plain\nalready reloaded 0.3 s ago (/etc/gate.json changed): added new; changed plain, other',
    );
  });
});

it('The outcomes of other nodes have a line each', () => {
  const outcomes = (['reloaded', 'refused', 'no answer'] as const).map((outcome, index) => ({
    ...{ id: `node ${index}`, address: `10.0.0.${index}:7001`, outcome },
  }));
  expect(describeNodes(outcomes)).toEqual([
    'node 10.0.0.0:7001: reloaded',
    'node 10.0.0.1:7001: nothing has changed: it cannot use its config file, its log says why',
    'node 10.0.0.2:7001: no answer within 5 s; gatehouse nodes shows its state',
  ]);
});

describe('gatehouse reload ends', () => {
  const node = (outcome: string) => ({ id: outcome, address: `${outcome}:7001`, outcome });
  const silent = 'The node at no answer:7001 did not respond';
  const refused = 'Another node could not use its config file';

  it.each([
    ['with 0 if all nodes have reloaded', [node('reloaded')], exitCodes.ok, []],
    [
      'with 6 if a node does not respond',
      [node('reloaded'), node('no answer')],
      exitCodes.unreachable,
      [silent],
    ],
    [
      'with 6 if the nodes could not be listed',
      null,
      exitCodes.unreachable,
      ['The other nodes were not told'],
    ],
    [
      'with 2 if a node refuses its file',
      [node('refused'), node('no answer')],
      exitCodes.usage,
      [refused, silent],
    ],
  ])('%s', async (_title, nodes, code, sentences) => {
    const folder = testFolder();
    const reload = () => ({ routes: none, needRestart: [], nodes });
    await openSqliteStorage(join(folder, 'gatehouse.db')).close();
    onTestFinished(await serveControls(folder, { routes: () => [], reload }, () => undefined));
    const run = await runGatehouse(['reload', '--data', folder, '--json']);
    expect(run.code).toBe(code);
    expect(JSON.parse(run.stdout)).toEqual(reload());
    for (const sentence of sentences) expect(run.stderr).toContain(sentence);
  });
});
