// src/cli/commands/operator/calls.ts
// src/authorization-server/administration/calls.ts
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallEntry } from '../../../src/storage/calls.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { recordedCall } from '../../support/recorded-calls.ts';
import { runGatehouse } from '../../support/served.ts';
import { placeOf } from '../../support/test-storage.ts';

let gatehouse: RunningGatehouse;
let account = '';
/** Options that name the installation. */
let place: string[];
const day = 86_400_000;

/** Runs `gatehouse calls …` with JSON, on the data of the running server. */
async function calls(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runGatehouse(['calls', ...args, ...place, '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout) as unknown;
}

beforeAll(async () => {
  gatehouse = await startGatehouse();
  place = await placeOf(gatehouse.folder);
  account = (await gatehouse.administration.accounts.list())[0]?.id ?? '';
  const now = Date.now();
  const add = async (...entries: Partial<CallEntry>[]): Promise<void> => {
    const batch = entries.map((entry, at) =>
      recordedCall(4 + 20 * at, { account, at: now - 1000 - at, ...entry }),
    );
    await gatehouse.storage.calls.append({ calls: batch, lost: 0 }, now, false);
  };
  await add(
    {
      target: 'delete_all',
      client: 'rogue',
      at: now - day,
      requestId: '11111111-2222-3333-4444-555555555555',
    },
    { target: 'read', client: 'good', revision: '2025-03-26', backend: 'files', ms: 100 },
    { target: 'read', client: 'good', backend: 'files', ms: 900, outcome: 'error', reason: 'backend_failed' },
    { target: 'read', client: 'good', account: 'acct_other', argumentsHash: 'SameSameSameSameSameSa' },
    { target: 'write', client: 'good', argumentsHash: 'SameSameSameSameSameSa' },
    { target: 'write', client: 'rogue', outcome: 'refused', reason: 'not_allowed' },
    { target: 'read', backend: 'mail', outcome: 'error', reason: 'backend_wants_login' },
    { target: 'read', traceId: '0af7651916cd43dd8448eb211c80319c' },
  );
});
afterAll(() => gatehouse.stop());

describe('An operator asks with one command', () => {
  it('who called a tool yesterday', async () => {
    expect(await calls('list', '--tool', 'delete_all', '--since', '2d', '--until', '12h')).toMatchObject([
      { account, client: 'rogue', target: 'delete_all', outcome: 'ok' },
    ]);
  });

  it('how often the calls of each backend fail, and how long they take', async () => {
    const counts = (await calls('summary', '--by', 'backend')) as { group: { backend: string | null } }[];
    expect(counts.find(({ group }) => group.backend === 'files')).toMatchObject({
      calls: 2,
      failed: 1,
      times: { p50: 100, p95: 900 },
    });
  });

  it('which clients still use an old revision', async () => {
    expect(await calls('summary', '--by', 'client', '--revision', '2025-03-26')).toMatchObject([
      { group: { client: 'good' }, calls: 1 },
    ]);
  });

  it('how a backend does, from the sums by hour, whose percentiles are bounds', async () => {
    expect(await calls('summary', '--by', 'backend', '--backend', 'files', '--hourly')).toMatchObject([
      { group: { backend: 'files' }, calls: 2, failed: 1, times: { p50: 100, p95: 1000 } },
    ]);
    const { code, stderr } = await runGatehouse([
      'calls',
      'summary',
      '--by',
      'account',
      '--hourly',
      ...place,
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The sums by hour have no account.')]);
  });

  it('who calls most', async () => {
    expect(await calls('summary', '--by', 'account', '--limit', '1')).toMatchObject([
      { group: { account }, calls: 7 },
    ]);
  });

  it('which calls a policy refused', async () => {
    expect(await calls('list', '--outcome', 'refused')).toMatchObject([
      { client: 'rogue', target: 'write', reason: 'not_allowed' },
    ]);
  });

  it('whose credentials a backend rejected', async () => {
    expect(
      await calls('summary', '--by', 'account,backend', '--reason', 'backend_wants_login'),
    ).toMatchObject([{ group: { account, backend: 'mail' }, calls: 1 }]);
  });

  it('what a client did between two times', async () => {
    const found = await calls('list', '--client', 'rogue', '--since', '2d', '--until', '1h');
    expect(found).toMatchObject([{ target: 'delete_all' }]);
  });

  it('which accounts sent the same arguments', async () => {
    const found = await calls('summary', '--by', 'argumentsHash', '--arguments', 'SameSameSameSameSameSa');
    expect(found).toMatchObject([{ calls: 2, accounts: 2 }]);
  });

  it('which tools an account used, by its address', async () => {
    const found = (await calls('summary', '--account', ada.email)) as { group: { target: string } }[];
    expect(found.map(({ group }) => group.target).sort()).toEqual(['delete_all', 'read', 'write']);
  });

  it.each([
    ['its X-Request-Id', '11111111-2222-3333-4444-555555555555', 'delete_all'],
    ['its trace', '0af7651916cd43dd8448eb211c80319c', 'read'],
    ['its number', '1', 'delete_all'],
  ])('for one call by %s', async (_what, name, target) => {
    expect(await calls('show', name)).toMatchObject([{ target }]);
  });

  it('if the ledger is intact', async () => {
    expect(await calls('verify')).toMatchObject({ isWhole: true, calls: 8, faults: [] });
  });
});

describe('The commands', () => {
  it('print tables for people, and an error that says what to do', async () => {
    const { stdout } = await runGatehouse(['calls', 'list', '--tool', 'write', ...place]);
    expect(stdout).toMatch(/^SEQ +TIME +ACCOUNT +CLIENT +ROUTE +CALL +OUTCOME +MS\n/);
    expect(stdout).toContain('refused (not_allowed)');
    const missing = await runGatehouse(['calls', 'show', '999', ...place]);
    expect([missing.code, missing.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('no such call'),
    ]);
    expect(missing.code).not.toBe(0);
    const wrong = await runGatehouse(['calls', 'summary', '--by', 'weather', ...place]);
    expect(wrong.stderr).toContain('Columns are account, client');
  });

  it('export a line for each call, in the order in which they ended', async () => {
    const { stdout } = await runGatehouse(['calls', 'export', '--client', 'good', ...place]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number });
    expect(lines.map(({ seq }) => seq)).toEqual([2, 3, 4, 5]);
  });
});
