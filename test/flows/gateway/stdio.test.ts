// Many people before one program: src/gateway/backends/stdio/stdio-backend.ts, src/gateway/backends/stdio/legacy-process.ts and the ways to
// share processes, with real processes that are counted in /proc. The full numbers:
//   GATEHOUSE_PEOPLE=50 GATEHOUSE_CALLS=10000 GATEHOUSE_CRASHES=100 npx vitest run test/flows/gateway/stdio.test.ts
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testFolderForFile } from '../../support/folder.ts';
import { childrenOf, processesWith, runs } from '../../support/processes.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { endConnections, type Received, send } from '../crosstalk/support/http.ts';
import { addPeople, tokensOf } from './support/people.ts';
import { openSession, type RawSession } from './support/session.ts';

const people = Number(process.env.GATEHOUSE_PEOPLE || 6);
const calls = Number(process.env.GATEHOUSE_CALLS || 600);
const crashes = Number(process.env.GATEHOUSE_CRASHES || 12);
const timeoutMs = 60_000 + calls * 20 + people * 2000;
const canary = 'canary-4712-in-the-gatehouse';

const folder = testFolderForFile();
const mark = randomUUID();
let program: Program;
let ports: Record<'session' | 'account' | 'shared', number>;
let publicUrl: string;
let emails: string[];
let tokens: string[];
beforeAll(async () => {
  emails = await addPeople(folder, people);
  program = runProgram('test/flows/gateway/support/stdio-gatehouses.ts', [folder, String(people + 2)], {
    env: { BACKEND_MARK: mark, CANARY: canary },
  });
  const [facts] = await program.waitFor('stdout', /^\{.*\}$/m);
  ({ publicUrl, ports } = JSON.parse(facts));
  tokens = await tokensOf(publicUrl, emails);
}, timeoutMs);
afterAll(async () => {
  endConnections();
  program.process.kill('SIGKILL');
  await program.ended;
});

/** Processes of the backend that run. */
function processes(): number[] {
  return processesWith('BACKEND_MARK', mark).filter((pid) => pid !== program.process.pid);
}

async function noneRuns(withinMs: number): Promise<void> {
  await vi.waitFor(() => expect(processes()).toEqual([]), { timeout: withinMs, interval: 100 });
}

/** Has everybody open a session; they leave when the work is done. */
async function together<Result>(
  port: number,
  work: (session: RawSession, person: number) => Promise<Result>,
): Promise<Result[]> {
  const sessions = await Promise.all(tokens.map((token) => openSession(port, token)));
  const results = await Promise.all(sessions.map(work));
  await Promise.all(sessions.map((session) => session.leave()));
  return results;
}

describe.skipIf(!existsSync('/proc/self/environ'))('a program before which many stand', () => {
  it.each([
    ['session', people],
    ['account', people],
    ['shared', 1],
  ] as const)(
    'never mixes their answers, though all requests have the id 1; each %s has its process, and none is left (T-127, T-158)',
    async (sharing, expected) => {
      const each = Math.ceil(calls / people);
      let most = 0;
      const pids = await together(ports[sharing], async (session, person) => {
        const own = new Set<unknown>();
        for (let turn = 0; turn < each; turn++) {
          const text = `${person}-${turn}`;
          const { value, error } = await session.call('echo', { text, delayMs: (person + turn) % 4 });
          expect(error).toBeUndefined();
          expect(value).toMatchObject({ said: text });
          own.add((value as { pid: number }).pid);
          if (person === 0 && turn % 50 === 0) most = Math.max(most, processes().length);
        }
        return [...own];
      });
      expect(pids.every((own) => own.length === 1)).toBe(true);
      expect(new Set(pids.flat()).size).toBe(expected);
      expect(most).toBe(expected);
      await noneRuns(15_000);
    },
    timeoutMs,
  );

  it(
    'may crash again and again: every caller hears of it at once, goes on, and nothing is left, no zombie either (T-155)',
    async () => {
      const each = Math.ceil(crashes / people);
      await together(ports.session, async (session, person) => {
        for (let turn = 0; turn < each; turn++) {
          const begun = performance.now();
          const { error } = await session.call('crash');
          expect(error?.data).toEqual({ reason: 'backend_ended' });
          expect(performance.now() - begun).toBeLessThan(2000 + people * 100);
          const { value } = await session.call('echo', { text: `${person}-${turn}` });
          expect(value).toMatchObject({ said: `${person}-${turn}` });
        }
      });
      await noneRuns(15_000);
      // What stays are the small processes that watch, one a backend.
      const left = childrenOf(program.process.pid as number);
      expect(left.filter(({ state }) => state === 'Z')).toEqual([]);
      expect(left.length).toBeLessThanOrEqual(3);
    },
    timeoutMs,
  );

  it('is started with nothing but what it was given, in its environment as the system shows it too (T-152, T-154)', async () => {
    const session = await openSession(ports.session, tokens[0] as string);
    const { value } = await session.call('surroundings');
    const { env, environ, args, pid } = value as {
      env: Record<string, string>;
      environ: string;
      args: string[];
      pid: number;
    };
    const always = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR'];
    expect(Object.keys(env).filter((name) => !always.includes(name))).toEqual(['BACKEND_MARK']);
    expect(environ).toContain(`BACKEND_MARK=${mark}`);
    expect(environ).not.toContain(canary);
    expect(args).toEqual(['sound', '$HOME; echo `id` "\'&|']);
    expect(runs(pid)).toBe(true);
    await session.leave();
    await noneRuns(5000);
  });

  // Two others than before, so that nobody has to wait for crashing too often.
  it('serves HTTP+SSE of 2024-11-05 and Rest, and crashes there as an error too (T-155)', async () => {
    const [sseToken = ''] = await tokensOf(publicUrl, emails.slice(1, 2), '/sse');
    const client = new Client({ name: 'older', version: '1' });
    const authorization = `Bearer ${sseToken}`;
    await client.connect(
      new SSEClientTransport(new URL(`http://localhost:${ports.session}/sse`), {
        requestInit: { headers: { authorization } },
      }),
    );
    const echo = { name: 'echo', arguments: { text: 'over SSE' } };
    const content = [{ type: 'text', text: expect.stringContaining('over SSE') }];
    expect(await client.callTool(echo)).toMatchObject({ content });
    await expect(client.callTool({ name: 'crash' })).rejects.toMatchObject({
      data: { reason: 'backend_ended' },
    });
    expect(await client.callTool(echo)).toMatchObject({ content });
    await client.close();

    const [restToken = ''] = await tokensOf(publicUrl, emails.slice(2, 3), '/rest');
    const rest = async (name: string): Promise<Received | undefined> => {
      const heard: Received[] = [];
      const params = { name, arguments: { text: 'over Rest' } };
      await send({
        port: ports.session,
        path: '/rest',
        headers: { authorization: `Bearer ${restToken}`, accept: 'application/json' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        onMessage: (message) => heard.push(message),
      });
      return heard[0];
    };
    expect(JSON.stringify(await rest('echo'))).toContain('over Rest');
    expect(await rest('crash')).toMatchObject({ error: { data: { reason: 'backend_ended' } } });
    expect(JSON.stringify(await rest('echo'))).toContain('over Rest');
  });

  it(
    'leaves no process when the gatehouse is killed with SIGKILL while all call (T-155)',
    async () => {
      const sessions = await Promise.all(
        (['session', 'account', 'shared'] as const).flatMap((sharing) =>
          tokens.map((token) => openSession(ports[sharing], token)),
        ),
      );
      const running = sessions.map((session) =>
        session.call('echo', { text: 'x', delayMs: 60_000 }).catch(() => undefined),
      );
      await vi.waitFor(() => expect(processes().length).toBeGreaterThanOrEqual(people * 2 + 1), {
        timeout: 30_000,
      });
      program.process.kill('SIGKILL');
      await program.ended;
      await Promise.all(running);
      await noneRuns(10_000);
    },
    timeoutMs,
  );
});
