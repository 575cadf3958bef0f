import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Restarts } from '../../../../src/gateway/backends/restarts.ts';
import { createWatchdog } from '../../../../src/gateway/backends/stdio/process-groups.ts';
import { ProcessPool } from '../../../../src/gateway/backends/stdio/process-pool.ts';
import { StdioProcess } from '../../../../src/gateway/backends/stdio/stdio-process.ts';
import {
  type ProcessProtocol,
  ProcessStart,
  StartQueue,
  SupervisedProcess,
} from '../../../../src/gateway/backends/stdio/supervised-process.ts';
import { createLogger } from '../../../../src/observability/logger.ts';

const nowMs = () => performance.now();
const request = (id: number, method = 'echo', text = '') => ({
  ...{ jsonrpc: '2.0' as const, id, method, params: { text } },
});

/** A program that answers each request, and ends at a request to crash. */
const program = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'crash') process.exit(1);
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { pid: process.pid } }));
  });`;

/** Supervises a real program with a handshake of one request. */
function supervise() {
  const logger = createLogger('silent');
  const watchdog = createWatchdog(logger);
  const pool = new ProcessPool('Program', { total: 1, perAccount: 1 }, nowMs);
  const restarts = new Restarts(nowMs);
  const answered = new Map<unknown, unknown>();
  const protocol = {
    isBusy: false as boolean,
    isListenedTo: false as boolean,
    ping: request(-1),
    startMs: () => 20_000,
    adopt: () => undefined,
    starting: () => undefined,
    greet: (process) => process.write(request(0, 'hello')),
    startTimedOut: () => supervised.fail('backend_start_timed_out'),
    notStarted: () => supervised.fail('backend_not_started'),
    take({ id, result }: { id?: unknown; result?: { pid?: unknown } }) {
      if (id !== 0) answered.set(id, result?.pid);
      else {
        supervised.becomeReady();
        supervised.flush();
      }
    },
    takeUnreadable: () => undefined,
    takeTooLong: () => undefined,
    evict: () => supervised.stop(),
    isExcused: () => false,
    stopped: () => undefined,
    ended: vi.fn(),
  } satisfies ProcessProtocol;
  const supervised: SupervisedProcess = new SupervisedProcess('ada', protocol, {
    ...{ name: 'Program', pool, restarts, nowMs },
    ...{ pingMs: 0, pings: { isAnswered: false } },
    launch: async () =>
      new StdioProcess({
        ...{ name: 'Program', command: process.execPath, args: ['-e', program], secrets: [], logger, nowMs },
        ...{ env: { PATH: String(process.env.PATH) }, maxLineBytes: 100_000, watchdog },
        patience: { byItselfMs: 500, afterTermMs: 500 },
      }),
  });
  onTestFinished(async () => {
    supervised.stop('closed');
    await supervised.hasEnded();
    watchdog.close();
  });
  /** Sends a request, and returns the id of the process that answers. */
  const ask = async (id: number): Promise<unknown> => {
    expect(supervised.ensureStarted() ?? supervised.send(request(id))).toBeUndefined();
    await vi.waitFor(() => expect(answered.has(id)).toBe(true), 10_000);
    return answered.get(id);
  };
  return { supervised, protocol, pool, restarts, ask };
}

describe('A supervised process', () => {
  it('is started by the first request, which waits for the handshake, and serves the next', async () => {
    const { supervised, pool, ask } = supervise();
    expect([supervised.state, pool.taken]).toEqual(['stopped', 0]);
    const pid = await ask(1);
    expect([supervised.state, supervised.process?.pid, await ask(2)]).toEqual(['ready', pid, pid]);
  });

  it('is restarted by the next request after a crash, and later after each crash in a row (T-155)', async () => {
    const { supervised, protocol, restarts, ask } = supervise();
    let pid = await ask(1);
    for (const id of [2, 3, 4]) {
      supervised.send(request(id, 'crash'));
      await vi.waitFor(() => expect(protocol.ended).toHaveBeenCalledTimes(id - 1), 10_000);
      expect(protocol.ended).toHaveBeenLastCalledWith(
        expect.objectContaining({ reason: 'backend_ended', wasReady: true }),
      );
      const before = pid;
      pid = await ask(id + 10);
      expect(pid).not.toBe(before);
    }
    supervised.send(request(5, 'crash'));
    await vi.waitFor(() => expect(supervised.state).toBe('stopped'), 10_000);
    expect(restarts.waiting('ada')?.reason).toBe('backend_ended');
    expect(supervised.ensureStarted()).toMatchObject({ data: { reason: 'backend_restarting' } });
  });

  it('is stopped when it was idle for long, but not while it is busy or listened to', async () => {
    const { supervised, protocol, pool, ask } = supervise();
    await ask(1);
    for (const use of ['isBusy', 'isListenedTo'] as const) {
      protocol[use] = true;
      pool.endIdle(0);
      expect(supervised.state).toBe('ready');
      protocol[use] = false;
    }
    pool.endIdle(0);
    expect([supervised.state, pool.taken]).toEqual(['stopped', 0]);
  });

  it('is replaced during its start without the loss of a waiting request', async () => {
    const { supervised, protocol, ask } = supervise();
    const first = ask(1);
    supervised.restartWhileStarting();
    expect(await first).toBe(supervised.process?.pid);
    expect(protocol.ended).not.toHaveBeenCalled();
  });

  it('is not started any more once it is closed', () => {
    const { supervised } = supervise();
    supervised.stop('closed');
    expect(supervised.ensureStarted()).toMatchObject({ data: { reason: 'backend_ended' } });
  });
});

it('A start that is over ends a process that is launched too late, and reports nothing', async () => {
  const launch = Promise.withResolvers<StdioProcess>();
  const launched = { end: vi.fn(() => Promise.resolve()) } as unknown as StdioProcess;
  const reported = vi.fn();
  const start = new ProcessStart(() => launch.promise, {
    launched: reported,
    refused: reported,
    failed: reported,
  });
  start.over();
  launch.resolve(launched);
  await vi.waitFor(() => expect(launched.end).toHaveBeenCalledOnce());
  expect(reported).not.toHaveBeenCalled();
});

it('The requests that wait for a start have 16 Mi characters at most; removed ones leave room (T-156)', () => {
  const half = 'x'.repeat(8 * 1024 * 1024);
  const queue = new StartQueue();
  expect(queue.push(request(1, 'echo', half))).toBe(true);
  expect(queue.push(request(2, 'echo', half))).toBe(false);
  expect(queue.push(request(3))).toBe(true);
  expect([queue.remove(1), queue.remove(1)]).toEqual([true, false]);
  expect(queue.push(request(4, 'echo', half))).toBe(true);
  expect(queue.takeAll().map(({ id }) => id)).toEqual([3, 4]);
  expect(queue.push(request(5, 'echo', half))).toBe(true);
});
