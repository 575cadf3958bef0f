import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deliverByHttp, deliverToFile, startExporter } from '../../src/ledger/index.ts';
import { createOperatorFetch } from '../../src/net/operator-fetch.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';
import { recordedCall } from '../support/recorded-calls.ts';

type Options = Parameters<typeof startExporter>[0];

async function openStores() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-export-'));
  const { storage } = await openDataFolder(folder);
  onTestFinished(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const record = async (from: number, count: number): Promise<void> => {
    const calls = Array.from({ length: count }, (_, at) =>
      recordedCall(from + at, { arguments: new Uint8Array([1, 2, 3]) }),
    );
    await storage.calls.append({ calls, lost: 0 }, Date.now(), false);
  };
  const log: string[] = [];
  const start = (options: Partial<Options> & Pick<Options, 'deliver'>): (() => Promise<void>) => {
    const stop = startExporter({
      name: 'test',
      writer: 'one',
      records: ['audit', 'calls'],
      format: 'json',
      version: '1.2.3',
      calls: storage.calls,
      exports: storage.exports,
      audit: storage.audit,
      logger: createLogger('info', (line) => log.push(line)),
      nowMs: () => Date.now(),
      pauseMs: 5,
      ...options,
    });
    onTestFinished(stop);
    return stop;
  };
  return { folder, storage, record, start, log };
}

/** Starts a receiver that takes records, or answers with another status. */
async function startReceiver() {
  const taken: { lines: Record<string, unknown>[]; headers: Record<string, unknown>; body: string }[] = [];
  const state = { status: 204 };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (state.status === 204) {
      const lines = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      taken.push({ lines, headers: request.headers, body });
    }
    response.writeHead(state.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/records`;
  const post = createOperatorFetch({ allowPrivateNetwork: true, dangerouslyFromLoopback: true });
  return {
    taken,
    state,
    deliver: deliverByHttp(url, 'a secret', post),
    seqs: () => seqsOf(taken.flatMap(({ lines }) => lines)),
  };
}

function seqsOf(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines.filter(({ type }) => type === 'call').map(({ seq }) => seq);
}

describe('An export by HTTP', () => {
  it('delivers calls and audit events in order, signed, with their positions and without arguments', async () => {
    const { storage, record, start } = await openStores();
    await record(1, 3);
    const details = { accountId: 'acct_1', email: 'a/b@example.com' };
    await storage.audit.append([{ at: 7, event: 'login.succeeded', details }]);
    const { taken, deliver } = await startReceiver();
    start({ deliver });
    await expect.poll(() => taken.length).toBe(1);
    const [{ lines, headers, body } = { lines: [], headers: {}, body: '' }] = taken;
    expect(lines.map(({ type, seq }) => [type, seq])).toEqual([
      ['call', 1],
      ['call', 2],
      ['call', 3],
      ['audit', 1],
    ]);
    const [{ hash } = { hash: '' }] = await storage.audit.read({ limit: 1 });
    expect(hash).not.toBe('');
    expect(lines[3]).toMatchObject({
      ...{ hash, at: 7000, event: 'login.succeeded' },
      details: { accountId: 'acct_1', email: '[address]' },
    });
    expect(body).not.toContain('"arguments"');
    const signature = createHmac('sha256', 'a secret').update(body).digest('hex');
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'x-gatehouse-records': 'calls=1-3 audit=1-1',
      'x-gatehouse-ledger': lines[0]?.ledger,
      'x-gatehouse-signature': `sha256=${signature}`,
    });
  });

  it('delivers again what a receiver did not take, says so once, and goes on after a restart without doubles', async () => {
    const { record, start, log } = await openStores();
    const { state, deliver, seqs } = await startReceiver();
    state.status = 503;
    await record(1, 2);
    const stop = start({ deliver });
    await expect.poll(() => log.length).toBe(1);
    await record(3, 700);
    state.status = 204;
    await expect.poll(() => seqs().length, { timeout: 20_000 }).toBe(702);
    await stop();
    await record(703, 1);
    start({ deliver });
    await expect.poll(() => seqs().length).toBe(703);
    expect(seqs()).toEqual(Array.from({ length: 703 }, (_, at) => at + 1));
    expect(log.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'records cannot be delivered',
      'records are delivered again',
    ]);
  });

  it('starts again at the first call of a new ledger, whose records name it, and repeats no audit event', async () => {
    const { folder, storage, record, start } = await openStores();
    const { taken, deliver, seqs } = await startReceiver();
    await storage.audit.append([{ at: 7, event: 'login.succeeded', details: {} }]);
    start({ deliver });
    await record(1, 3);
    await expect.poll(() => seqs().length).toBe(3);
    renameSync(join(folder, 'gatehouse.calls.db'), join(folder, 'moved.db'));
    await record(1, 2);
    await expect.poll(() => seqs()).toEqual([1, 2, 3, 1, 2]);
    const lines = taken.flatMap((each) => each.lines);
    const ids = lines
      .filter(({ type }) => type === 'call')
      .map(({ ledger, seq }) => `${String(ledger)} ${String(seq)}`);
    expect(new Set(ids).size).toBe(5);
    expect(new Set(ids.map((id) => id.split(' ')[0])).size).toBe(2);
    expect(lines.filter(({ type }) => type === 'audit')).toHaveLength(1);
  });

  it('delivers audit events while the ledger is damaged, and says so once', async () => {
    const { folder, storage, record, start, log } = await openStores();
    const { taken, deliver, seqs } = await startReceiver();
    start({ deliver });
    await record(1, 2);
    await expect.poll(() => seqs()).toEqual([1, 2]);
    const file = join(folder, 'gatehouse.calls.db');
    renameSync(file, join(folder, 'moved.db'));
    writeFileSync(file, 'no database'.repeat(1000));
    await expect.poll(() => log.length).toBe(1);
    await storage.audit.append([{ at: 7, event: 'login.succeeded', details: {} }]);
    await expect.poll(() => taken.at(-1)?.lines).toMatchObject([{ type: 'audit', seq: 1 }]);
    rmSync(file);
    await record(9, 1);
    await expect.poll(() => seqs()).toEqual([1, 2, 1]);
    expect(log.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'calls cannot be exported',
      'calls are exported again',
    ]);
  });

  it('is done by one process at a time', async () => {
    const { record, start } = await openStores();
    const { deliver, seqs } = await startReceiver();
    start({ deliver });
    await record(1, 5);
    await expect.poll(() => seqs().length).toBe(5);
    const other: string[] = [];
    start({ writer: 'two', deliver: async (lines) => void other.push(lines) });
    await record(6, 5);
    await expect.poll(() => seqs().length).toBe(10);
    expect(other).toEqual([]);
  });
});

describe('An export to a file', () => {
  it('appends lines to a file that only its owner can read', async () => {
    const { folder, record, start } = await openStores();
    const file = join(folder, 'records.jsonl');
    start({ deliver: deliverToFile(file), records: ['calls'] });
    await record(1, 2);
    await expect.poll(() => statSync(file, { throwIfNoEntry: false })?.size ?? 0).toBeGreaterThan(0);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ seq: 1 }, { seq: 2 }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('begins a line of its own after half a line that a failed delivery left, and no empty one else', async () => {
    const { folder, record, start } = await openStores();
    const file = join(folder, 'records.jsonl');
    writeFileSync(file, '{"type":"call","se');
    start({ deliver: deliverToFile(file), records: ['calls'] });
    const lines = () => readFileSync(file, 'utf8').split('\n');
    await record(1, 1);
    await expect.poll(() => lines().length).toBe(3);
    await record(2, 1);
    await expect.poll(() => lines().length).toBe(4);
    const [half, first = '', second = '', end] = lines();
    expect([half, end]).toEqual(['{"type":"call","se', '']);
    expect([first, second].map((line) => JSON.parse(line) as object)).toMatchObject([{ seq: 1 }, { seq: 2 }]);
  });
});
