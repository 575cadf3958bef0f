// Flows through src/gateway/backends/stdio/stdio-link.ts and src/gateway/backends/stdio/modern-process.ts: real programs of SDK v2, and
// some that know nothing of 2026-07-28, behind real logins and the real clients of both SDKs.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { processesWith } from '../../support/processes.ts';
import { grace } from '../../support/served.ts';
import { capableClients, connectCapable } from './support/capable-clients.ts';
import { postModern } from './support/post-modern.ts';

const scopes = ['mcp'];
const program = (name: string, ...args: string[]) => nodeProgram(`test/support/backend/${name}.ts`, ...args);

/** A gate before a program whose processes can be found by a mark. */
async function start(backend: ReturnType<typeof program> & { process?: 'account' | 'shared' }) {
  const mark = randomUUID();
  const gate = await startGatehouse({
    backend: { ...backend, env: { BACKEND_MARK: mark }, name: 'Program' },
  });
  await gate.administration.accounts.add(grace.email, grace.password);
  return { gate, processes: () => processesWith('BACKEND_MARK', mark) };
}
type Started = Awaited<ReturnType<typeof start>>;

const modernClient = 'SDK v2, 2026-07-28';
const pidOf = (said: unknown): unknown => (said as { pid: unknown }).pid;

/** Asks for the tools by hand, in 2026-07-28. @param more what `_meta` has beside the revision */
async function listTools({ url, mcpUrl }: RunningGatehouse, more: object): Promise<Response> {
  const { tokens } = await obtainTokens({ url, mcpUrl }, { scope: 'mcp', scopes });
  return postModern(mcpUrl, tokens.access_token, { method: 'tools/list', meta: more, id: 'mine' });
}

describe.each(['modern', 'both'])('a program that speaks %s', (speaks) => {
  let gate: RunningGatehouse;
  let processes: Started['processes'];
  beforeAll(async () => {
    ({ gate, processes } = await start(program('asking-program', speaks)));
  });
  afterAll(async () => {
    await gate.stop();
    await vi.waitFor(() => expect(processes()).toEqual([]));
  });

  it.each(capableClients)(
    'serves the client of %s: calls, progress, logs, and what is asked resumes the very call (B1-08, B5-16, C4-06)',
    async (kind) => {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      expect(client.serverName()).toBe('asking');
      expect(await client.listTools()).toContain('twice');
      expect(await client.call('ask', { whom: 'ada' })).toMatchObject({ name: 'Ada' });
      expect(await client.call('sample')).toEqual({ type: 'text', text: 'Ada' });
      expect(await client.call('roots')).toEqual(['file:///Ada']);
      const progress: number[] = [];
      await client.setLevel('info');
      client.heard.length = 0;
      await client.call('steps', {}, (step) => progress.push(step));
      expect([progress, client.heard]).toEqual([
        [1, 2, 3],
        ['step 1', 'step 2', 'step 3'],
      ]);
      await client.close();
    },
  );

  it.each([
    ['lacks what every request has', {}, 400, -32602],
    ['is whole', { 'io.modelcontextprotocol/clientCapabilities': {} }, 200, undefined],
  ])('is asked where _meta %s: with a status of its own (C3-01)', async (_what, more, status, code) => {
    const response = await listTools(gate, more);
    // A program that starts slowly is waited for on a stream.
    const [json = ''] = /\{.*\}/.exec(await response.text()) ?? [];
    const answer = JSON.parse(json) as { id: unknown; error?: { code: number } };
    expect([response.status, answer.id, answer.error?.code]).toEqual([status, 'mine', code]);
  });

  it('tells what changed, also after the program ended by itself and was started again (B1-06, C5-03)', async () => {
    const client = await connectCapable(modernClient, gate.mcpUrl, { scopes });
    await client.follow('test://a');
    const pid = pidOf(await client.call('echo', { text: 'x' }));
    await client.call('change', { uri: 'test://a' });
    await vi.waitFor(() => expect(client.heard.sort()).toEqual(['test://a', 'tools']), 60_000);
    client.heard.length = 0;
    process.kill(Number(pid), 'SIGKILL');
    // Everything may have changed meanwhile.
    await vi.waitFor(() => expect(client.heard.sort()).toEqual(['test://a', 'tools']), 60_000);
    expect(pidOf(await client.call('echo', { text: 'x' }))).not.toBe(pid);
    await client.close();
  });

  it('is one process for each account and client, and no answer crosses (T-127, T-158)', async () => {
    const people = await Promise.all([
      connectCapable(modernClient, gate.mcpUrl, { scopes }, 'Ada'),
      connectCapable(modernClient, gate.mcpUrl, { scopes, person: grace }, 'Grace'),
    ]);
    const pids = await Promise.all(
      people.map(async (client, person) => {
        const own = await Promise.all(
          Array.from({ length: 30 }, async (_, turn) => {
            const text = `${person}-${turn}`;
            const said = await client.call('echo', { text, delayMs: String((turn * 7) % 30) });
            expect(said).toMatchObject({ said: text });
            return pidOf(said);
          }),
        );
        return new Set(own);
      }),
    );
    expect(pids.map(({ size }) => size)).toEqual([1, 1]);
    expect(pids[0]).not.toEqual(pids[1]);
    await Promise.all(people.map((client) => client.close()));
  });

  it('answers a call during which it ends at once, and sends what changes nothing again (B1-06, T-155)', async () => {
    const client = await connectCapable(modernClient, gate.mcpUrl, { scopes });
    const pid = Number(pidOf(await client.call('echo', { text: 'x' })));
    const hanging = client.call('hang');
    hanging.catch(() => undefined);
    process.kill(pid, 'SIGSTOP');
    const listing = client.listTools();
    await new Promise((resolve) => setTimeout(resolve, 200));
    process.kill(pid, 'SIGKILL');
    await expect(hanging).rejects.toThrow(/Program ended while the call ran/);
    expect(await listing).toContain('twice');
    await client.close();
  });
});

describe.each(['both', 'modern'])('a program that speaks %s, one process an account', (speaks) => {
  it('is one process for clients of all eras, and what it asks resumes the very call (C4-06)', async () => {
    const { gate } = await start({ ...program('asking-program', speaks), process: 'account' });
    const pids = new Set<unknown>();
    for (const kind of capableClients) {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      pids.add(pidOf(await client.call('echo', { text: 'x' })));
      expect(await client.call('ask')).toMatchObject({ name: 'Ada' });
      expect(await client.call('sample')).toEqual({ type: 'text', text: 'Ada' });
      expect(await client.call('roots')).toEqual(['file:///Ada']);
      await client.close();
    }
    expect(pids.size).toBe(1);
    await gate.stop();
  });
});

describe('a program of 2026-07-28 that does not say for which request a log message is', () => {
  it('has it told to nobody where two clients of an account want theirs (T-127)', async () => {
    const { gate } = await start({ ...program('asking-program', 'modern'), process: 'account' });
    const one = await connectCapable(modernClient, gate.mcpUrl, { scopes });
    const other = await connectCapable(modernClient, gate.mcpUrl, { scopes });
    for (const client of [one, other]) await client.setLevel('info');
    const hanging = other.call('hang').catch(() => undefined);
    await one.call('echo', { text: 'x', delayMs: '200' });
    await one.call('steps');
    expect([one.heard, other.heard]).toEqual([[], []]);
    await other.close();
    await hanging;
    await vi.waitFor(async () => {
      await one.call('steps');
      expect(one.heard).toContain('step 3');
    });
    await one.close();
    await gate.stop();
  });

  it('has it told to nobody where it serves everybody (T-158)', async () => {
    const { gate } = await start({ ...program('asking-program', 'modern'), process: 'shared' });
    const [ada, hers] = await Promise.all([
      connectCapable(modernClient, gate.mcpUrl, { scopes }, 'Ada'),
      connectCapable(modernClient, gate.mcpUrl, { scopes, person: grace }, 'Grace'),
    ]);
    await ada.setLevel('info');
    const [, said] = await Promise.all([ada.call('steps'), hers.call('ask', { whom: 'her' })]);
    expect(said).toEqual({ name: 'Grace', state: 'state of her' });
    expect([ada.heard, hers.heard]).toEqual([[], ['elicitation/create']]);
    await Promise.all([ada.close(), hers.close()]);
    await gate.stop();
  });
});

describe.each([
  ['mute', 1],
  ['confused', 1],
  ['hasty', 2],
  ['curt', 2],
  ['offended', 2],
])('an older program that is %s when it is asked what it speaks', (manner, starts) => {
  it('serves clients of all eras, is asked once, and goes on as the process that was asked where it can (B1-09)', async () => {
    const { gate, processes } = await start(program('older-program', manner));
    const first = await listTools(gate, { 'io.modelcontextprotocol/clientCapabilities': {} });
    expect(await first.text()).toContain('"echo"');
    expect(gate.log.filter((line) => line.includes('a backend was started'))).toHaveLength(starts);
    for (const kind of capableClients) {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      const begun = performance.now();
      expect(await client.listTools()).toEqual(['echo']);
      expect(await client.call('echo', { text: 'x' })).toMatchObject({ arguments: { text: 'x' } });
      expect(performance.now() - begun).toBeLessThan(8000);
      await client.close();
    }
    expect(gate.log.filter((line) => line.includes('its first message is server/discover'))).toHaveLength(1);
    await gate.stop();
    await vi.waitFor(() => expect(processes()).toEqual([]));
  });
});

it('a client of 2026-07-28 hears that a program starts while it does not say what it speaks (C6-03)', async () => {
  const { gate, processes } = await start(program('older-program', 'mute'));
  const waiting = { 'io.modelcontextprotocol/clientCapabilities': {}, progressToken: 'mine' };
  const response = await listTools(gate, waiting);
  const [first, ...others] = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  expect(first).toMatch(/"progressToken":"mine".*is starting/);
  expect(others.at(-1)).toContain('"echo"');
  await gate.stop();
  await vi.waitFor(() => expect(processes()).toEqual([]));
});
