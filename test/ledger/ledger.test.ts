import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLedger, type Ledger, type RouteRecording } from '../../src/ledger/index.ts';
import type { FinishedCall } from '../../src/mcp/index.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { CallBatch, CallStore } from '../../src/storage/calls.ts';
import { createCallStoreInThread } from '../../src/storage/sqlite/stores/calls-in-thread.ts';

const keys = { audit: 'a key of the audit log' };
const hashOnly: RouteRecording = { arguments: 'hash', keep: [], required: false };

function finished(given: Partial<FinishedCall> = {}): FinishedCall {
  return {
    at: 1_000_000,
    ms: 12.4,
    waitMs: undefined,
    authInfo: {
      issuer: 'https://gate.example',
      subject: 'acct_1',
      clientId: 'client-1',
      scopes: ['mcp'],
      audience: 'https://gate.example/mcp',
      expiresAt: 2_000_000,
      grantId: 'grant-1',
    },
    transport: 'http',
    revision: '2025-11-25',
    method: 'tools/call',
    target: 'add',
    arguments: { a: 1 },
    bytesIn: 100,
    bytesOut: 50,
    traceId: undefined,
    requestId: 'request-1',
    notes: {},
    ending: { kind: 'result' },
    ...given,
  };
}

type Append = CallStore['append'];

async function start({
  writesAtOnce = true,
  appendBy = (append) => append,
}: {
  writesAtOnce?: boolean;
  appendBy?: (append: Append) => Append;
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'gatehouse.calls.db');
  const store = createCallStoreInThread(file, keys);
  const events: [string, Readonly<Record<string, string>>][] = [];
  const log: string[] = [];
  const begin = (): Ledger =>
    createLedger({
      store: { ...store, append: appendBy(store.append) },
      keys,
      reasons: new Map([
        ['backend_timed_out', 'timed_out'],
        ['backend_busy', 'refused'],
      ]),
      audit: (event, details) => void events.push([event, details]),
      logger: createLogger('info', (line) => log.push(line)),
      nowMs: () => 5_000_000,
      batchMs: writesAtOnce ? 1 : 60_000,
      beatMs: 50,
    });
  const ledger = begin();
  onTestFinished(async () => {
    await ledger.close();
    await store.close();
  });
  const rows = (): ReturnType<typeof store.read> => store.read({}, 10_000);
  return { folder, file, store, events, log, ledger, begin, rows };
}

describe('The ledger', () => {
  it('writes calls together, behind their responses, and anchors its chain in the audit log', async () => {
    const { ledger, rows, store, events } = await start();
    const recorder = ledger.recorderFor('', hashOnly, new Map());
    for (let at = 0; at < 300; at++)
      expect(recorder.record(finished({ requestId: `r${at}` }))).toBeUndefined();
    await expect.poll(async () => (await rows()).length).toBe(300);
    expect((await store.seals(0, 100)).length).toBeLessThanOrEqual(3);
    expect((await rows())[0]).toMatchObject({
      route: '/',
      account: 'acct_1',
      client: 'client-1',
      grant: 'grant-1',
      outcome: 'ok',
      ms: 12,
      argumentNames: 'a',
      requestId: 'r0',
    });
    await ledger.close();
    const { head } = await store.ends();
    expect(events.map(([event]) => event)).toEqual(['calls.begun', 'calls.sealed', 'calls.sealed']);
    expect(events.at(-1)?.[1]).toEqual({ batch: String(head?.batch), mac: head?.mac });
  });

  it.each([
    ['a result', { kind: 'result' }, ['ok', null, null]],
    ['an error of a tool', { kind: 'tool_error' }, ['tool_error', null, null]],
    ['a cancelled call', { kind: 'cancelled' }, ['cancelled', null, null]],
    [
      'a refusal',
      { kind: 'refused', reason: 'insufficient_scope', code: -32000 },
      ['refused', -32000, 'insufficient_scope'],
    ],
    [
      'an error of the gateway',
      { kind: 'error', error: { code: -32603, message: 'm' }, reason: 'backend_timed_out' },
      ['timed_out', -32603, 'backend_timed_out'],
    ],
    [
      'an error of a backend, whose own reason is not recorded',
      { kind: 'error', error: { code: -1, message: 'canary', data: { reason: 'backend_busy' } } },
      ['error', -1, null],
    ],
    ['a request for input', { kind: 'input_required' }, ['ok', null, 'input_required']],
  ] as const)('records %s with its outcome', async (_what, ending, expected) => {
    const { ledger, rows } = await start();
    ledger.recorderFor('/notes', hashOnly, new Map()).record(finished({ ending }));
    await expect.poll(async () => (await rows()).length).toBe(1);
    const [row] = await rows();
    expect([row?.outcome, row?.code, row?.reason]).toEqual(expected);
  });

  it('records a URI without its user, query and fragment', async () => {
    const { ledger, rows } = await start();
    const recorder = ledger.recorderFor('', hashOnly, new Map());
    const target = 'https://user:canary@host.example/path?key=canary#canary';
    recorder.record(finished({ method: 'resources/read', target }));
    await expect.poll(async () => (await rows())[0]?.target).toBe('https://host.example/path');
  });

  it('names the credential that a backend got, but not for a call that was refused or answered from the cache', async () => {
    const { ledger, rows } = await start();
    const recorder = ledger.recorderFor('', hashOnly, new Map([['', 'github']]));
    recorder.record(finished());
    recorder.record(finished({ ending: { kind: 'refused', reason: 'not_allowed' } }));
    recorder.record(finished({ notes: { isCached: true } }));
    await expect.poll(async () => (await rows()).length).toBe(3);
    expect((await rows()).map(({ credential }) => credential)).toEqual(['github', null, null]);
  });

  it('names who acted for the account, the generation of the token, and how long the request waited', async () => {
    const { ledger, rows } = await start();
    const recorder = ledger.recorderFor('', hashOnly, new Map([['', 'github']]));
    const authInfo = { ...finished().authInfo, actors: ['proxy', 'agent'] };
    recorder.record(finished({ authInfo, waitMs: 3.6, notes: { generations: { github: 4 } } }));
    recorder.record(finished({ notes: { generations: { github: 4, gitlab: 1 } } }));
    await expect.poll(async () => (await rows()).length).toBe(2);
    expect(await rows()).toMatchObject([
      { actor: '["proxy","agent"]', generation: 4, waitMs: 4 },
      { actor: null, generation: null, waitMs: null },
    ]);
  });

  it('drops whole actors from the end of a long chain, and shortens one that is too long by itself', async () => {
    const { ledger, rows } = await start();
    const recorder = ledger.recorderFor('', hashOnly, new Map());
    const chains = [
      ['"'.repeat(100), 'a'.repeat(286), 'beyond'],
      ['"'.repeat(100), 'a'.repeat(300), 'b'],
      ['c'.repeat(496), 'b'],
      ['"'.repeat(600), 'b'],
    ];
    for (const actors of chains) recorder.record(finished({ authInfo: { ...finished().authInfo, actors } }));
    await expect.poll(async () => (await rows()).length).toBe(4);
    const stored = (await rows()).map(({ actor }) => actor ?? '');
    expect(stored.map((text) => JSON.parse(text) as unknown)).toEqual([
      ['"'.repeat(100), 'a'.repeat(286)],
      ['"'.repeat(100)],
      ['c'.repeat(496)],
      ['"'.repeat(248)],
    ]);
    expect(Math.max(...stored.map(({ length }) => length))).toBe(500);
  });
});

describe('A route that requires its calls in the ledger', () => {
  const required: RouteRecording = { ...hashOnly, required: true };

  it('has a response wait until its call is durable', async () => {
    const { ledger, rows } = await start({ writesAtOnce: false });
    const recorder = ledger.recorderFor('', required, new Map());
    expect(await recorder.record(finished())).toBe(true);
    expect(await rows()).toHaveLength(1);
  });

  it('is told that a call could not be stored, and refuses others until the ledger can be written', async () => {
    const { ledger, file, store, log } = await start({ writesAtOnce: false });
    const recorder = ledger.recorderFor('', required, new Map());
    await recorder.record(finished());
    damage(file);
    expect(await recorder.record(finished())).toBe(false);
    expect(recorder.isReady()).toBe(false);
    expect(log.join('')).toContain('calls cannot be recorded in the ledger');
    rmSync(file);
    await expect.poll(() => recorder.isReady(), { timeout: 20_000 }).toBe(true);
    expect((await store.read({}, 10)).length).toBe(1);
  });
});

/** Puts something that is no database in the place of the ledger. */
function damage(file: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  renameSync(file, `${file}.away`);
  writeFileSync(file, 'not a database '.repeat(1000));
}

describe('A ledger that cannot be written', () => {
  it('keeps calls for later, counts those beyond its bound, says so once, and goes on by itself', async () => {
    const { ledger, file, log, rows, store } = await start();
    const recorder = ledger.recorderFor('', hashOnly, new Map());
    recorder.record(finished());
    await expect.poll(async () => (await rows()).length).toBe(1);
    damage(file);
    for (let at = 0; at < 6_000; at++) recorder.record(finished());
    expect(log).toEqual([expect.stringContaining('calls come faster than the ledger takes them')]);
    await expect.poll(() => log.length).toBe(2);
    rmSync(file);
    await expect.poll(async () => (await rows().catch(() => [])).length, { timeout: 30_000 }).toBe(5_000);
    const seals = await store.seals(0, 1_000);
    expect(seals.reduce((sum, { lost }) => sum + lost, 0)).toBe(1_000);
    expect(log.filter((line) => line.includes('cannot be recorded'))).toHaveLength(1);
    expect(log.at(-1)).toContain('recorded in the ledger again');
  });

  it('appends the same batch again, though more calls wait by then: the store may have taken it', async () => {
    const given: CallBatch[] = [];
    const { ledger, log, rows } = await start({
      appendBy:
        (append) =>
        async (batch, ...rest) => {
          given.push(batch);
          if (given.length === 1) throw new Error('the answer was lost');
          return append(batch, ...rest);
        },
    });
    const recorder = ledger.recorderFor('', hashOnly, new Map());
    recorder.record(finished({ requestId: 'first' }));
    await expect.poll(() => log.length).toBe(1);
    recorder.record(finished({ requestId: 'second' }));
    await expect
      .poll(async () => (await rows()).map(({ requestId }) => requestId))
      .toEqual(['first', 'second']);
    const [first, again, next] = given.filter(({ calls }) => calls.length > 0);
    expect(again).toBe(first);
    expect(next?.calls).toMatchObject([{ requestId: 'second' }]);
  });

  it('leaves a mark in the audit log if it never recovers', async () => {
    const { ledger, file, store, events, log } = await start();
    await store.ends();
    damage(file);
    ledger.recorderFor('', hashOnly, new Map()).record(finished());
    await expect.poll(() => log.length).toBe(1);
    await ledger.close();
    expect(events).toContainEqual(['calls.lost', { calls: '1' }]);
  });
});

describe('A server that ended without closing its ledger', () => {
  it('is a gap in the chain, which another server records', async () => {
    const { store, begin, ledger } = await start();
    await store.beat('another-machine:1:x', 5_000_000);
    const next = begin();
    await expect.poll(async () => (await store.seals(0, 10)).map(({ gap }) => gap)[0]).toBe('ended');
    await next.close();
    await ledger.close();
    expect(await store.beat('looking', 5_000_000)).toEqual([]);
  });

  it('is recorded also if the other server is closed at once', async () => {
    const { store, begin } = await start();
    const machine = (await store.beat('looking', 1))[0]?.writer.split(':')[0] ?? '';
    // No process has this id: Linux gives them up to 2 ** 22.
    await store.beat(`${machine}:${2 ** 22 + 1}:x`, 5_000_000);
    await begin().close();
    expect((await store.seals(0, 10)).map(({ gap }) => gap)).toContain('ended');
  });
});
