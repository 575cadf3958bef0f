import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Restarts } from '../../../../src/gateway/backends/restarts.ts';
import { createLauncher } from '../../../../src/gateway/backends/stdio/launcher.ts';
import { ModernProcess } from '../../../../src/gateway/backends/stdio/modern-process.ts';
import { createWatchdog } from '../../../../src/gateway/backends/stdio/process-groups.ts';
import { ProcessPool } from '../../../../src/gateway/backends/stdio/process-pool.ts';
import { internalRequest } from '../../../../src/mcp/modern/internal-call.ts';
import { createLogger } from '../../../../src/observability/logger.ts';

const program = fileURLToPath(new URL('../../../support/backend/asking-program.ts', import.meta.url));
const nowMs = () => performance.now();
const nobody = { answered: () => undefined, notified: () => undefined, failed: () => undefined };

/** A real program of 2026-07-28, which is evicted after some idle milliseconds. */
function start(
  idleMs: number,
  args: readonly string[] = [program, 'modern'],
  { startMs = 20_000, isKnown = true, restarts = new Restarts(nowMs) } = {},
) {
  const logger = createLogger('silent');
  const watchdog = createWatchdog(logger);
  const { launch } = createLauncher({
    ...{ name: 'Program', command: process.execPath, args, secrets: [], logger, nowMs },
    env: { PATH: String(process.env.PATH) },
    maxLineBytes: 100_000,
    patience: { byItselfMs: 500, afterTermMs: 500 },
    watchdog,
  });
  const pool = new ProcessPool('Program', { total: 1, perAccount: 1 }, nowMs);
  const ended = vi.fn();
  const launched = vi.fn(() => launch(undefined));
  const made = new ModernProcess('ada', {
    ...{ name: 'Program', startMs, pool, restarts, nowMs, ended },
    launch: launched,
    adopt: () => undefined,
    pingMs: 0,
    pings: { isAnswered: false },
    servesEverybody: false,
    isKnown: () => isKnown,
  });
  const look = setInterval(() => pool.endIdle(idleMs), 10);
  onTestFinished(async () => {
    clearInterval(look);
    await made.close();
    watchdog.close();
  });
  return { made, pool, ended, launched, restarts };
}

/** The script of a program that runs statements with the `id` of each request after the first. */
const afterDiscovery = (statements: string): string => `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const result = { supportedVersions: ['2026-07-28'], capabilities: {} };
    if (method === 'server/discover') console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    else {
      ${statements}
    }
  });`;

describe('a process that speaks 2026-07-28', () => {
  it('that nobody asks any more ends after a while', async () => {
    const { made, pool, ended } = start(50);
    const answer = await new Promise((answered) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, answered });
    });
    expect(answer).toMatchObject({ status: 200, result: { resultType: 'complete' } });
    expect(pool.taken).toBe(1);
    await vi.waitFor(() => expect(pool.taken).toBe(0));
    expect(ended).toHaveBeenCalled();
  });

  it('ends after a while also where what it was started for was cancelled meanwhile', async () => {
    const { made, pool } = start(50);
    const cancel = made.send({ ...internalRequest('tools/list', {}), id: 1 }, nobody);
    await pause(10);
    cancel();
    expect(pool.taken).toBe(1);
    await vi.waitFor(() => expect(pool.taken).toBe(0), 10_000);
  });

  it.each([
    ['has failed where it is known to speak this revision', true, 'backend_start_timed_out'],
    ['has not where it is not: it may be one of an older revision', false, undefined],
  ])('that does not answer in time %s', async (_what, isKnown, reason) => {
    const { made, restarts } = start(60_000, ['-e', 'setInterval(() => {}, 1000)'], {
      startMs: 100,
      isKnown,
    });
    const failed = new Promise((done) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, failed: done });
    });
    expect(await failed).toMatchObject({ error: { data: { reason: 'backend_start_timed_out' } } });
    expect(restarts.waiting('ada')?.reason).toBe(reason);
  });

  it('that does not answer has failed once with others of its account that began with it (T-155)', async () => {
    const restarts = new Restarts(nowMs);
    const silent = Array.from({ length: 3 }, () =>
      start(60_000, ['-e', 'setInterval(() => {}, 1000)'], { startMs: 200, restarts }),
    );
    await Promise.all(
      silent.map(
        ({ made }) =>
          new Promise((failed) => {
            made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, failed });
          }),
      ),
    );
    expect(restarts.waiting('ada')?.waitMs).toBeLessThanOrEqual(10_000);
  });

  it('that is closed is not started again by who asks again when they hear of it', async () => {
    const { made, pool, launched } = start(60_000);
    const ask = (id: number, hearing: object) =>
      made.send({ ...internalRequest('tools/list', {}), id }, { ...nobody, ...hearing });
    await new Promise((answered) => ask(1, { answered }));
    const failed = vi.fn();
    const listening = { ...internalRequest('subscriptions/listen', { notifications: {} }), id: 2 };
    made.send(listening, { ...nobody, failed: () => ask(3, { failed }) });
    await made.close();
    expect(failed).toHaveBeenCalledWith(
      expect.objectContaining({ error: expect.objectContaining({ data: { reason: 'backend_ended' } }) }),
    );
    expect(launched).toHaveBeenCalledTimes(1);
    expect(pool.taken).toBe(0);
  });

  it('that has not begun when what it was started with changes begins again, and who asked notices nothing', async () => {
    const { made, pool, launched } = start(60_000);
    const answer = new Promise((answered) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, answered, failed: answered });
    });
    made.replace();
    await pause(10);
    made.replace();
    expect(await answer).toMatchObject({ status: 200, result: { resultType: 'complete' } });
    expect(pool.taken).toBe(1);
    const processes = await Promise.all(launched.mock.results.map(({ value }) => value));
    expect(processes.map((process) => 'error' in process || process.isGone)).toEqual([true, true, false]);
    const failed = vi.fn();
    made.send({ ...internalRequest('tools/list', {}), id: 2 }, { ...nobody, failed });
    made.replace();
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ isBroken: true }));
  });

  it('whose last answer could not be read is ended after a while, too', async () => {
    const script = afterDiscovery(`console.log('{"jsonrpc":"2.0","id":' + id + ',"result":"\\\\ud800"}');`);
    const { made, pool } = start(100, ['-e', script]);
    const failed = new Promise((done) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, failed: done });
    });
    expect(await failed).toMatchObject({ error: { data: { reason: 'backend_answer_unreadable' } } });
    expect(pool.taken).toBe(1);
    await expect.poll(() => pool.taken).toBe(0);
  });

  it('that says what is no message before it is ready has answered nobody with it', async () => {
    const script = `
      console.log('{"id":1,"level":"info","msg":"starting"}');
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        const result = method === 'tools/list' ? { tools: [] } : { supportedVersions: ['2026-07-28'], capabilities: {} };
        setTimeout(() => console.log(JSON.stringify({ jsonrpc: '2.0', id, result })), 50);
      });`;
    const { made } = start(60_000, ['-e', script]);
    const answer = new Promise((done) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, answered: done, failed: done });
    });
    expect(await answer).toMatchObject({ status: 200, result: { tools: [] } });
  });

  it('whose log is JSON with ids of its own answers nobody with it (T-156)', async () => {
    const script = afterDiscovery(
      `console.log(JSON.stringify({ id, level: 'info', method: 'tools/list' }));
       console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } }));`,
    );
    const { made } = start(60_000, ['-e', script]);
    const answer = new Promise((done) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, answered: done, failed: done });
    });
    expect(await answer).toMatchObject({ status: 200, result: { tools: [] } });
  });

  it('whose answer cannot be read says so to who asked, also where it has said too much unasked (T-156)', async () => {
    const script = afterDiscovery(
      `process.stdout.write('garbage\\n'.repeat(2000) + '{"jsonrpc":"2.0","id":' + id + ',"result":"\\\\ud800"}\\n');`,
    );
    const { made } = start(60_000, ['-e', script]);
    const failed = new Promise((done) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, failed: done });
    });
    expect(await failed).toMatchObject({ error: { data: { reason: 'backend_answer_unreadable' } } });
  });

  it.each(['', '\\n'])(
    'that dies in the middle of an answer has answered nobody whose id stands in it (T-156): %j behind it',
    async (behind) => {
      const script = afterDiscovery(`
        const half = '{"jsonrpc":"2.0","result":{"text":"' + 'x'.repeat(5000) + '","of":{"id":1}${behind}';
        if (id === 2) process.stdout.write(half, () => process.exit(1));`);
      const { made } = start(60_000, ['-e', script]);
      const reasons = await Promise.all(
        [1, 2].map(
          (id) =>
            new Promise((failed) => {
              made.send({ ...internalRequest('tools/list', {}), id }, { ...nobody, failed });
            }),
        ),
      );
      expect(reasons).toMatchObject(Array(2).fill({ detail: { reason: 'backend_ended' } }));
    },
  );

  it('that answers with more than is read is an error for that request, at once; others go on (T-156)', async () => {
    const script = `
      const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      const deep = '['.repeat(200) + ']'.repeat(200);
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (method === 'server/discover') say({ id, result: { supportedVersions: ['2026-07-28'], capabilities: {} } });
        else if (method === 'tools/list') setTimeout(() => say({ id, result: { tools: [] } }), 200);
        else process.stdout.write('{"result":{"id":"inner","a":' + deep + '},"jsonrpc":"2.0","id":' + id + '}\\n');
      });`;
    const { made } = start(60_000, ['-e', script]);
    const outcome = (id: number, method: string) =>
      new Promise((done) => {
        made.send({ ...internalRequest(method, {}), id }, { ...nobody, answered: done, failed: done });
      });
    const other = outcome(1, 'tools/list');
    expect(await outcome(2, 'prompts/list')).toMatchObject({
      error: { data: { reason: 'backend_answer_too_large' } },
      isBroken: false,
    });
    expect(await other).toMatchObject({ status: 200 });
  });
});

/** The script of a program of an older revision, which does more once it has said so. */
const older = (more = '') => `
  process.stdin.once('data', (line) => {
    const { id } = JSON.parse(line);
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
    ${more}
  });
  setInterval(() => {}, 1000);`;

describe('a process that has said that it is of an older revision (B1-09)', () => {
  const ask = (made: ModernProcess) =>
    new Promise((failed) => {
      made.send({ ...internalRequest('tools/list', {}), id: 1 }, { ...nobody, failed });
    });

  it('is given once, alive, to who asks it initialize, and its place with it', async () => {
    const { made, pool, ended, restarts } = start(60_000, ['-e', older()], { isKnown: false });
    expect(await ask(made)).toMatchObject({ isOther: true });
    expect([pool.taken, ended.mock.calls.length]).toEqual([1, 0]);
    const given = made.release(60_000);
    expect(given).toMatchObject({ saidOlder: true, process: { isGone: false } });
    expect([pool.taken, ended.mock.calls.length, made.release(0)]).toEqual([0, 1, undefined]);
    await given?.process.end();
    expect(restarts.waiting('ada')).toBeUndefined();
  });

  it('ends where nobody does so, and has not failed', async () => {
    const { made, pool, ended, launched, restarts } = start(60_000, ['-e', older()], { isKnown: false });
    await ask(made);
    const launch = await launched.mock.results[0]?.value;
    await vi.waitFor(() => expect(pool.taken).toBe(0), 4_000);
    expect([made.release(0), restarts.waiting('ada'), ended.mock.calls.length]).toEqual([
      undefined,
      undefined,
      1,
    ]);
    await vi.waitFor(() => expect(launch).toMatchObject({ isGone: true }));
  });

  it('leaves its place at once to somebody else who needs it', async () => {
    const { made, pool } = start(60_000, ['-e', older()], { isKnown: false });
    await ask(made);
    const bob = { account: 'bob', idleSinceMs: undefined, isListenedTo: false, evict: () => undefined };
    expect([pool.take(bob), pool.taken, made.release(0)]).toEqual([undefined, 1, undefined]);
  });

  it('stays for who may come for it, however short idle ones are kept', async () => {
    const { made, pool } = start(60_000, ['-e', older()], { isKnown: false });
    await ask(made);
    pool.endIdle(0);
    expect(pool.taken).toBe(1);
    const given = made.release(0);
    expect(given).toMatchObject({ saidOlder: true });
    await given?.process.end();
  });

  it('is not given where it has ended since, and has not failed', async () => {
    const { made, pool, restarts } = start(60_000, ['-e', older('process.exit(1);')], { isKnown: false });
    await ask(made);
    await vi.waitFor(() => expect(pool.taken).toBe(0), 1_500);
    expect([made.release(0), restarts.waiting('ada')]).toEqual([undefined, undefined]);
  });

  it('gives way to a new one where 2026-07-28 is asked for again', async () => {
    const { made, pool, launched } = start(60_000, ['-e', older()], { isKnown: false });
    await ask(made);
    expect(await ask(made)).toMatchObject({ isOther: true });
    const processes = await Promise.all(launched.mock.results.map(({ value }) => value));
    expect(processes).toHaveLength(2);
    await vi.waitFor(() => expect(processes[0]).toMatchObject({ isGone: true }));
    expect(pool.taken).toBe(1);
  });
});
