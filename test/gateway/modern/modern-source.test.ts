import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatewayBackend } from '../../../src/gateway/backends/gateway-backend.ts';
import {
  createStdioBackend,
  type ProcessSharing,
} from '../../../src/gateway/backends/stdio/stdio-backend.ts';
import { StartBudget } from '../../../src/gateway/modern/modern-source.ts';
import { createConversations } from '../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { testFolder } from '../../client/support/folder.ts';
import { callBackend, createCaller } from '../../mcp/support/modern-calls.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { backendAt, json, open, params, serve } from '../backends/stdio/support/talk.ts';

const startMs = 2_000;

/** What the end of a process may take, which its caller waits for, too. */
const endMs = 1_000;

async function silentUrl(): Promise<GatewayBackend> {
  const { url } = await serve(() => undefined);
  return backendAt({ url, startMs });
}

/** A program that drops everything it is sent. */
async function silentProgram(): Promise<GatewayBackend> {
  const program = nodeProgram('test/support/backend/server.ts', 'mute');
  const backend = createStdioBackend('There', { ...program, startMs }, { logger: createLogger('silent') });
  onTestFinished(() => backend.close());
  return backend;
}

/** Opens conversations as requests of 2026-07-28 of a person do. */
function requestsTo({ source }: GatewayBackend) {
  const conversations = createConversations({ source, logger: createLogger('silent') });
  onTestFinished(() => conversations.close());
  return async (subject?: string) => {
    const caller = createCaller(subject);
    const sinceMs = performance.now();
    expect(await source.modern?.(caller)).toBeUndefined();
    const opening = await conversations.open(params, caller, { hear() {}, ended() {} });
    const { data, message } = 'error' in opening ? opening.error : {};
    return { tookMs: performance.now() - sinceMs, reason: (data as { reason?: string }).reason, message };
  };
}

describe.each([
  ['by URL', silentUrl],
  ['that is a program', silentProgram],
])('a server %s that answers nothing', (_kind, silent) => {
  it('is given up as soon for who asks in 2026-07-28 as for others, and not waited for anew right after', async () => {
    const request = requestsTo(await silent());
    const first = await request();
    expect(first).toMatchObject({ reason: 'backend_start_timed_out' });
    expect(first.tookMs).toBeLessThan(startMs + endMs);
    const next = await request();
    expect(next.reason).toBe('backend_restarting');
    expect(next.message).toMatch(/did not answer initialize in time/);
    expect(next.tookMs).toBeLessThan(startMs / 2);
    // Of somebody else it is not known; that it does not say which revisions it speaks is.
    const others = await request('bob');
    expect(others).toMatchObject({ reason: 'backend_start_timed_out' });
    expect(others.tookMs).toBeLessThan(startMs + endMs);
  });
});

/** A server that speaks 2026-07-28 alone. @param answers whether it answers a request; to others it says nothing */
async function modernServer(answers: (method: string) => boolean): Promise<GatewayBackend> {
  const { url } = await serve(({ body: { id, method = '' } }, response) => {
    const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} };
    if (!answers(method)) return;
    if (method === 'server/discover') json(response, { id, result });
    else json(response, { id, error: { code: -32601, message: 'no' } });
  });
  return backendAt({ url, startMs });
}

function serverSlowOnce(): Promise<GatewayBackend> {
  let discoveries = 0;
  return modernServer((method) => method !== 'server/discover' || ++discoveries > 1);
}

describe('a server of 2026-07-28 alone that is slow once to say so (B1-09, B5-15)', () => {
  it('serves who asks in 2026-07-28 nevertheless, and is known afterwards', async () => {
    const { source } = await serverSlowOnce();
    const conversations = createConversations({ source, logger: createLogger('silent') });
    onTestFinished(() => conversations.close());
    const caller = createCaller();
    expect(await source.modern?.(caller)).toBeUndefined();
    const opening = await conversations.open(params, caller, { hear() {}, ended() {} });
    expect(opening).not.toHaveProperty('error');
    expect(await source.modern?.(caller)).toBeDefined();
  });

  it('serves clients of older revisions when the next of them comes', async () => {
    const backend = await serverSlowOnce();
    const [first, next] = [await open(backend), await open(backend, 'bob')];
    expect((await first.ask('initialize', params)).error?.code).toBe(-32601);
    expect((await next.ask('initialize', params)).result).toMatchObject({ protocolVersion: '2025-11-25' });
  });
});

it('a server that is known to speak 2026-07-28 alone and hangs is given up by who begins with it after the time of a start, in any era', async () => {
  let hangs = false;
  const backend = await modernServer(() => !hangs);
  const known = await open(backend);
  expect((await known.ask('initialize', params)).error).toBeUndefined();
  hangs = true;
  const modern = await backend.source.modern?.(createCaller());
  const next = await open(backend, 'bob');
  let isCallAnswered = false;
  void known.ask('tools/call', { name: 'slow' }).finally(() => {
    isCallAnswered = true;
  });
  const sinceMs = performance.now();
  const answers = await Promise.all([
    next.ask('initialize', params),
    modern && callBackend(modern, 'server/discover').then(({ answer }) => answer),
  ]);
  expect(performance.now() - sinceMs).toBeLessThan(startMs + endMs);
  expect(answers.map((answer) => answer?.error?.data)).toEqual(
    Array(2).fill({ reason: 'backend_start_timed_out' }),
  );
  expect(isCallAnswered).toBe(false);
});

/** Whether a process group has processes. */
function isRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

describe('a program that needs most of the time of a start', () => {
  describe.each([
    ['several processes', 50],
    ['one', 1],
  ])('where an account has %s', (_number, maxProcesses) => {
    it.each<[string, readonly string[], string, boolean, number]>([
      ['of an older revision, without a second start', ['test/support/backend/plain.ts'], '', false, 1],
      [
        'that speaks 2026-07-28 alone, without a second start',
        ['test/support/backend/asking-program.ts', 'modern'],
        '',
        true,
        1,
      ],
      [
        'that speaks both, without a second start',
        ['test/support/backend/asking-program.ts', 'both'],
        '',
        true,
        1,
      ],
    ])(
      'serves who asks in 2026-07-28: one %s',
      async (_what, [file = '', ...given], unless, speaksModern, starts) => {
        const { command, args } = nodeProgram(file, ...given);
        const script = `${unless}sleep 3; touch "$0"; exec "$@"`;
        const late = ['-c', script, join(testFolder(), 'started'), command, ...args];
        const log: string[] = [];
        const logger = createLogger('info', (line) => log.push(line));
        const backend = createStdioBackend(
          'There',
          { command: 'sh', args: late, startMs: 5_000, maxProcesses },
          { logger },
        );
        onTestFinished(() => backend.close());
        const conversations = createConversations({ source: backend.source, logger });
        onTestFinished(() => conversations.close());
        const caller = createCaller();
        expect(await backend.source.modern?.(caller)).toBeUndefined();
        const opening = await conversations.open(params, caller, { hear() {}, ended() {} });
        expect(opening).not.toHaveProperty('error');
        expect((await backend.source.modern?.(caller)) !== undefined).toBe(speaksModern);
        const started = log.filter((line) => line.includes('a backend was started'));
        expect(started).toHaveLength(starts);
        expect(backend.status()).toMatchObject({ state: 'running', processes: 1, failures: { count: 0 } });
        const groups = started.map((line) => (JSON.parse(line) as { pid: number }).pid);
        await vi.waitFor(() => expect(groups.filter(isRunning)).toEqual(groups.slice(-1)), 3_000);
        await conversations.close();
        await backend.close();
        expect([backend.status().processes, groups.filter(isRunning)]).toEqual([0, []]);
      },
    );
  });
});

describe('a program that speaks 2026-07-28 alone, and needs most of the time of each start (B1-09)', () => {
  /** @param script what a shell runs before the program, or in its place */
  function slowProgram(script: string, process: ProcessSharing) {
    const { command, args } = nodeProgram('test/support/backend/asking-program.ts', 'modern');
    const log: string[] = [];
    const backend = createStdioBackend(
      'There',
      {
        command: 'sh',
        args: ['-c', `${script}; exec "$@"`, 'sh', command, ...args],
        startMs: 11_000,
        process,
      },
      { logger: createLogger('info', (line) => log.push(line)) },
    );
    onTestFinished(() => backend.close());
    return { backend, starts: () => log.filter((line) => line.includes('a backend was started')).length };
  }

  it.each(['session', 'account', 'shared'] as const)(
    'serves its first client of an older revision, without a second start where processes are those of %s',
    async (sharing) => {
      const { backend, starts } = slowProgram('sleep 6', sharing);
      const client = await open(backend);
      expect((await client.ask('initialize', params)).error).toBeUndefined();
      expect((await client.ask('tools/list')).result).toHaveProperty('tools');
      expect(starts()).toBe(1);
      expect(backend.status()).toMatchObject({ state: 'running', processes: 1, failures: { count: 0 } });
    },
  );

  it('is started once more where it answers nothing after it refused initialize, for as long as its client waits', async () => {
    const refuses = `read -r line
      id=$(echo "$line" | sed 's/.*"id":\\([^,}]*\\).*/\\1/')
      case $line in
        *initialize*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32022,"message":"no"}}'; read -r line; exit 1;;
        *) echo '{"jsonrpc":"2.0","id":'$id',"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}';;
      esac`;
    const { backend, starts } = slowProgram(refuses, 'session');
    const client = await open(backend);
    expect((await client.ask('initialize', params)).error).toBeUndefined();
    expect(starts()).toBe(2);
  });
});

describe('the time of a start', () => {
  const [ada, bob] = [createCaller().authInfo, createCaller('bob').authInfo];

  /** A budget of 50 s, and its clock. */
  function start() {
    const clock = { nowMs: 100_000 };
    const budget = new StartBudget(50_000, () => clock.nowMs);
    return { clock, budget };
  }

  it('the time of a start is less by what its caller has waited before, and by nobody else’s wait (T-158)', () => {
    const { clock, budget } = start();
    budget.waited(ada, clock.nowMs - 20_000);
    expect([bob, undefined, ada].map((caller) => budget.takeMs(caller))).toEqual([50_000, 50_000, 30_000]);
  });

  it('what was waited counts for one start, and until there was an answer', () => {
    const { clock, budget } = start();
    budget.waited(ada, clock.nowMs - 20_000);
    expect([budget.takeMs(ada), budget.takeMs(ada)]).toEqual([30_000, 50_000]);
    budget.waited(ada, clock.nowMs - 20_000);
    budget.answered(ada);
    expect(budget.takeMs(ada)).toBe(50_000);
  });

  it('of two who waited for the same, the first counts; what comes later is another wait', () => {
    const { clock, budget } = start();
    budget.waited(ada, clock.nowMs - 20_000);
    budget.waited(ada, clock.nowMs - 5);
    expect(budget.takeMs(ada)).toBe(30_000);
    budget.waited(ada, clock.nowMs - 20_000);
    clock.nowMs += 10_000;
    expect(budget.takeMs(ada), 'who waits for nothing').toBe(30_000);
    budget.waited(ada, clock.nowMs - 20_000);
    clock.nowMs += 2000;
    budget.waited(ada, clock.nowMs - 5);
    expect(budget.takeMs(ada)).toBe(49_995);
  });

  it('no start has less than no time, and who started nothing for so long has waited for none', () => {
    const { clock, budget } = start();
    budget.waited(ada, clock.nowMs - 60_000);
    budget.waited(bob, clock.nowMs - 10_000);
    expect(budget.takeMs(ada)).toBe(0);
    clock.nowMs += 50_000;
    expect(budget.takeMs(bob)).toBe(50_000);
  });
});
