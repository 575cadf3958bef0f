import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SessionReplayState } from '../../../../src/gateway/backends/stdio/legacy-process.ts';
import {
  createStdioBackend,
  type StdioBackendOptions,
} from '../../../../src/gateway/backends/stdio/stdio-backend.ts';
import type { CredentialSource } from '../../../../src/gateway/credentials/credentials.ts';
import { callerFor } from '../../../../src/gateway/modern/translating-server.ts';
import type { Message } from '../../../../src/mcp/protocol.ts';
import { createConversations } from '../../../../src/mcp/sdk/conversations.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { callerNamed, openTalk } from '../../../mcp/sdk/support/talk.ts';
import { createCaller } from '../../../mcp/support/modern-calls.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { startProgram } from './support/program.ts';
import { callerOf, open, params } from './support/talk.ts';

function start(args: readonly string[], options: Partial<StdioBackendOptions> = {}) {
  const log: string[] = [];
  const logger = createLogger('debug', (line) => log.push(line));
  const backend = createStdioBackend(
    'Notes',
    { ...nodeProgram('test/support/backend/server.ts', ...args), ...options },
    { logger },
  );
  const conversations = createConversations({ source: backend.source, logger });
  onTestFinished(async () => {
    await conversations.close();
    await backend.close();
  });
  return { backend, conversations, log };
}

describe('a program as an MCP server', () => {
  it('that never answers initialize is an error in time, and ends (T-155)', async () => {
    const { backend, conversations, log } = start(['mute'], { startMs: 300 });
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };
    const opening = await conversations.open(
      initialize,
      {},
      { hear: () => undefined, ended: () => undefined },
    );
    expect(opening).toMatchObject({ error: { data: { reason: 'backend_start_timed_out' } } });
    expect(backend.status()).toMatchObject({
      state: 'failing',
      processes: 0,
      failures: { count: 1, last: { reason: 'backend_start_timed_out' } },
    });
    expect(log.join('')).toContain('did not answer initialize in time');
  });

  it.each([
    ['says so, and what it may be waiting for, where it wrote nothing to standard error', '', true],
    ['says nothing of that where it wrote what is wrong', 'echo no certificate >&2;', false],
  ])('that is late at its start %s', async (_what, first, isTold) => {
    const program = { command: 'sh', args: ['-c', `${first} exec sleep 60`] };
    const { open, log } = startProgram({ ...program, startMs: 1000 });
    await expect(open()).rejects.toThrow('did not answer initialize in time');
    const line = log.find((one) => one.includes('did not answer initialize in time'));
    expect(line?.includes('wrote nothing to its standard error')).toBe(isTold);
    expect(line?.includes('a proxy or certificates that its env (--env) does not hand over')).toBe(isTold);
  });

  /** A program that writes each message as the test says, with a tool that answers with an array of a length. */
  const written = (write: string) => ({
    command: process.execPath,
    args: [
      '-e',
      `let count = 0;
      const write = ${write};
      const say = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }), count++);
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        if (id === undefined) return;
        const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'a', version: '1' } };
        if (method === 'initialize') say({ id, result: initialized });
        else if (method === 'tools/call') {
          const { length = 0, text = '' } = params.arguments;
          say({ method: 'notifications/tools/list_changed', params: [] });
          say({ id, result: { content: [], structuredContent: { list: Array(length).fill(1), text } } });
        } else say({ id, error: { code: -32601, message: 'no' } });
      });`,
    ],
  });
  const lines = "(text) => process.stdout.write(text + '\\n')";

  it.each([
    ['at its start', "(text, at) => process.stdout.write((at ? '' : '\\ufeff') + text + '\\r\\n')"],
    ['before each line', "(text) => process.stdout.write('\\ufeff' + text + '\\n')"],
  ])('that writes a byte order mark %s is read (FA-48)', async (_what, write) => {
    const { open, log } = startProgram(written(write));
    const talk = await open();
    expect((await talk.ask('tools/call', { name: 'a', arguments: { length: 1 } })).result).toBeDefined();
    expect(log.join('')).not.toContain('no MCP message');
  });

  it('that writes Content-Length headers is not waited for, and that is what its caller and the log hear (FA-48)', async () => {
    const framed =
      "(text) => process.stdout.write('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text)";
    const { open, log, backend } = startProgram(written(framed));
    await expect(open()).rejects.toThrow('Content-Length headers');
    expect(backend.status().failures.last?.reason).toBe('backend_framing');
    expect(log.join('')).toContain('puts Content-Length headers before its messages');
    expect(log.join('')).not.toContain('did not answer initialize in time');
  });

  /** A program that answers pings as the test says, and stops answering anything at all when it is asked for `hang`. */
  const pinged = (answer: string, onHang = 'hangs = true') => ({
    command: process.execPath,
    args: [
      '-e',
      `let hangs = false;
      const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        if (hangs || id === undefined || method === undefined) return;
        const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
        if (method === 'initialize') say({ id, result: initialized });
        else if (method === 'ping') { ${answer} }
        else if (method === 'tools/call') {
          say({ id, result: { content: [{ type: 'text', text: String(process.pid) }] } });
          if (params.name === 'hang') { ${onHang} }
          if (params.name === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000);
        } else say({ id, error: { code: -32601, message: 'no' } });
      });`,
    ],
  });
  const pong = 'say({ id, result: {} })';

  it.each([
    ['answers them', pong],
    ['does not know pings, and says so', "say({ id, error: { code: -32601, message: 'Method not found' } })"],
  ])('that %s and then hangs is replaced before anybody waits for it (FA-39)', async (_what, answer) => {
    const { open, backend } = startProgram({ ...pinged(answer), pingSeconds: 0.2 });
    const talk = await open();
    const first = await talk.call('hang');
    await vi.waitUntil(() => backend.status().processes === 0, { timeout: 10_000, interval: 20 });
    expect(backend.status().failures.last?.reason).toBe('backend_unresponsive');
    const second = await talk.call('echo');
    expect([second === first, Number(second) > 0]).toEqual([false, true]);
  });

  it('that never answers pings lives on, as does one that is silent because a call keeps it from answering (FA-39)', async () => {
    const silent = startProgram({ ...pinged(''), pingSeconds: 0.1 });
    const talk = await silent.open();
    const busy = startProgram({ ...pinged(pong), pingSeconds: 0.7 });
    const working = await busy.open();
    const first = [await talk.call('echo'), await working.call('echo')];
    const slow = [working.call('block'), working.call('echo')];
    expect([...new Set(await Promise.all(slow))]).toEqual([first[1]]);
    expect([await talk.call('echo'), await working.call('echo')]).toEqual(first);
    expect([silent, busy].map(({ backend }) => backend.status().failures.count)).toEqual([0, 0]);
  });

  it('that hung before it was asked is not waited for, and its call hears why (FA-39)', async () => {
    const { open } = startProgram({ ...pinged(pong), pingSeconds: 1 });
    const talk = await open();
    await talk.call('hang');
    const pings = vi.fn();
    setTimeout(pings, 3300);
    await vi.waitUntil(() => pings.mock.calls.length > 0, { timeout: 10_000 });
    const { error, result } = await talk.ask('tools/call', { name: 'echo', arguments: {} });
    expect(result).toBeUndefined();
    expect(error?.data).toEqual({ reason: 'backend_unresponsive' });
  });

  it('that is pinged, or pings, is idle all the same, and ends after its time (FA-39, FA-41)', async () => {
    const { open, backend } = startProgram({
      ...pinged(`${pong}; if (id) say({ id: 'p' + Date.now(), method: 'ping' })`),
      pingSeconds: 0.1,
      idleSeconds: 1,
    });
    await (await open()).call('echo');
    await vi.waitUntil(() => backend.status().processes === 0, { timeout: 10_000, interval: 20 });
    expect(backend.status().failures.count).toBe(0);
  });

  it('that tells of a change with params: [] is heard (FA-48)', async () => {
    const talk = await startProgram(written(lines)).open();
    await talk.ask('tools/call', { name: 'a', arguments: {} });
    await talk.hears(({ method }) => method === 'notifications/tools/list_changed');
  });

  it('may answer with as many values as its setting says (FA-48)', async () => {
    const ask = async (options: Partial<StdioBackendOptions>, length: number): Promise<unknown> => {
      const talk = await startProgram({ ...written(lines), ...options }).open();
      const { result, error } = await talk.ask('tools/call', { name: 'a', arguments: { length } });
      return error ? (error.data as { reason: string }).reason : Object.keys(result ?? {});
    };
    const whole = ['content', 'structuredContent'];
    expect(await ask({}, 49_000)).toEqual(whole);
    expect(await ask({}, 51_000)).toBe('backend_answer_too_large');
    expect(await ask({ maxAnswerValues: 300_000 }, 260_000)).toEqual(whole);
    expect(await ask({ maxAnswerValues: 2_000 }, 3_000)).toBe('backend_answer_too_large');
  });

  it('that writes too long a line is an error for the call, and goes on (T-156)', async () => {
    const { conversations } = start(['sound'], { maxLineBytes: 1_000_000 });
    const talk = await openTalk(conversations);
    const answer = await talk.ask('tools/call', { name: 'garbage', arguments: { kind: 'long' } });
    expect(answer).toMatchObject({ error: { data: { reason: 'backend_answer_too_large' } } });
    expect(await talk.ask('tools/call', { name: 'echo', arguments: { text: 'still here' } })).toHaveProperty(
      'result',
    );
  });

  it('that reads nothing is an error, and what it is sent is not kept without end (T-156)', async () => {
    const { conversations } = start(['deaf'], { maxLineBytes: 500_000 });
    const talk = await openTalk(conversations);
    const text = 'x'.repeat(400_000);
    const params = { name: 'echo', arguments: { text } };
    for (const id of ['a', 'b', 'c']) talk.say({ id, method: 'tools/call', params });
    expect(await talk.ask('tools/call', params)).toMatchObject({
      error: { data: { reason: 'backend_not_reading' } },
    });
  });
});

/** A file that says how the program starts, and one in which it notes each start. */
function files() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-program-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [mode, journal] = [join(folder, 'mode'), join(folder, 'journal')];
  writeFileSync(mode, 'sound');
  writeFileSync(journal, '');
  return {
    args: [mode, journal],
    say: (how: 'sound' | 'ending') => writeFileSync(mode, how),
    starts: () => readFileSync(journal, 'utf8').split('\n').length - 1,
  };
}

/** Credentials of ann's: the key `old`, and `new` from the change on. */
function changingKey(
  find: (key: string) => ReturnType<CredentialSource['find']> = async (key) => ({ env: { KEY: key } }),
) {
  let key = 'old';
  const listeners: Parameters<CredentialSource['onChange']>[0][] = [];
  const credentials: CredentialSource = {
    find: () => find(key),
    onChange(tell) {
      listeners.push(tell);
      return () => undefined;
    },
  };
  const change = (): void => {
    key = 'new';
    const { issuer, subject } = callerNamed('ann');
    for (const tell of listeners) tell({ issuer, subject });
  };
  return { credentials, change };
}

it('that has not begun when its credentials change begins with the new ones, and its client notices nothing', async () => {
  const { credentials, change } = changingKey();
  const { open, log, backend } = startProgram({ credentials }, ['slow']);
  const opening = open();
  await vi.waitFor(() => expect(log.join('')).toContain('a backend was started'));
  change();
  const talk = await opening;
  const { env } = await talk.tool('surroundings');
  expect((env as { KEY: string }).KEY).toBe('new');
  expect(backend.status()).toMatchObject({ processes: 1, failures: { count: 0 } });
  await talk.tool('crash');
  expect(await talk.tool('told')).toMatchObject({ isReady: true, pid: expect.any(Number) });
});

it('that is launched too late, with what no longer holds, is not the one that is asked', async () => {
  const late: (() => void)[] = [];
  const { credentials, change } = changingKey((key) => {
    const found = { env: { KEY: key } };
    return key === 'new' ? Promise.resolve(found) : new Promise((give) => late.push(() => give(found)));
  });
  const { open, log } = startProgram({ credentials });
  const opening = open();
  await vi.waitFor(() => expect(late).toHaveLength(1));
  change();
  const talk = await opening;
  for (const give of late) give();
  await vi.waitFor(() => expect(log.filter((line) => line.includes('was started'))).toHaveLength(2));
  expect((await talk.tool('surroundings')).env).toMatchObject({ KEY: 'new' });
});

it('that asked something and begins anew before it has begun is answered nothing that its last process asked', async () => {
  const script = `
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    let answers = 0;
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (method === undefined) answers++;
      else if (method === 'initialize') {
        if (process.env.KEY === 'old') return say({ id: 'asked', method: 'roots/list' });
        const { protocolVersion } = params;
        const begun = { protocolVersion, capabilities: {}, serverInfo: { name: 'a', version: '1' } };
        setTimeout(() => say({ id, result: begun }), 300);
      } else if (id !== undefined) say({ id, result: { answers } });
    });`;
  const { credentials, change } = changingKey();
  const options = { command: process.execPath, args: ['-e', script], credentials };
  const backend = createStdioBackend('Asks', options, { logger: createLogger('silent') });
  onTestFinished(() => backend.close());
  const ann = callerNamed('ann');
  const server = await backend.source.create({ era: 'legacy', authInfo: ann });
  const heard: Message[] = [];
  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message) => void heard.push(message as Message),
  };
  await server.connect(transport);
  const tell = (message: object) => transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const clientInfo = { name: 'front', version: '1' };
  tell({
    ...{ id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  });
  await vi.waitFor(() => expect(heard).toMatchObject([{ id: 'asked', method: 'roots/list' }]));
  change();
  tell({ id: 'asked', result: {} });
  await vi.waitFor(() => expect(heard.at(-1)).toMatchObject({ id: 1, result: {} }), 5000);
  tell({ id: 2, method: 'tools/list' });
  await vi.waitFor(() => expect(heard.at(-1)).toMatchObject({ id: 2, result: { answers: 0 } }));
  expect(heard[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'asked' } });
});

describe('a program that is started again', () => {
  it('is told all that the last was told, and its client goes on (T-155)', async () => {
    const talk = await startProgram().open();
    await talk.ask('logging/setLevel', { level: 'warning' });
    await talk.ask('resources/subscribe', { uri: 'a:1' });
    await talk.ask('resources/subscribe', { uri: 'a:2' });
    await talk.ask('resources/unsubscribe', { uri: 'a:1' });
    const before = await talk.tool('told');
    expect(await talk.tool('crash')).toMatchObject({ data: { reason: 'backend_ended' } });
    const after = await talk.tool('told');
    expect(after).toEqual({ ...before, pid: expect.any(Number) });
    expect(after).toMatchObject({
      level: 'warning',
      subscriptions: ['a:2'],
      isReady: true,
      initialize: '2025-11-25',
    });
    expect(after.pid).not.toBe(before.pid);
    expect(talk.hasEnded()).toBe(false);
  });

  it('is started by itself where somebody waits to hear of its resources', async () => {
    const { args, starts } = files();
    const talk = await startProgram({}, args).open();
    await talk.ask('resources/subscribe', { uri: 'a:1' });
    await talk.tool('crash');
    await vi.waitFor(() => expect(starts()).toBe(2), { timeout: 5000 });
    await talk.tool('announce', { uri: 'a:1' });
    expect(talk.heard.filter(({ method }) => method === 'notifications/resources/updated')).toHaveLength(1);
  });

  it('never gets the answer to what the last asked', async () => {
    const talk = await startProgram().open({ capabilities: { roots: {} } });
    talk.say({ id: 90, method: 'tools/call', params: { name: 'ask', arguments: { delayMs: 60_000 } } });
    const { id } = await talk.hears(({ method }) => method === 'roots/list');
    await talk.tool('crash');
    await talk.hears(
      ({ method, params }) => method === 'notifications/cancelled' && params?.requestId === id,
    );
    talk.say({ id, result: { roots: [] } });
    expect(await talk.tool('told')).toMatchObject({ answers: [] });
  });

  it('is not started for every request when it fails: callers hear at once when it is tried again (T-155)', async () => {
    const { args, say, starts } = files();
    const { open, backend } = startProgram({}, args);
    const talk = await open();
    say('ending');
    await talk.tool('crash');
    expect(await talk.tool('echo')).toMatchObject({ data: { reason: 'backend_not_started' } });
    const begun = performance.now();
    const answers = await Promise.all(Array.from({ length: 50 }, () => talk.tool('echo')));
    expect(performance.now() - begun).toBeLessThan(500);
    for (const { message, data } of answers) {
      expect(message).toMatch(/^The MCP server Notes could not be started, and is started again in \d s/);
      expect(data).toMatchObject({ reason: 'backend_restarting', retryAfterSeconds: expect.any(Number) });
    }
    expect([starts(), backend.status().state]).toEqual([1, 'failing']);
    say('sound');
    await vi.waitFor(
      async () => expect(await talk.tool('echo', { text: 'back' })).toHaveProperty('said', 'back'),
      {
        timeout: 8000,
        interval: 100,
      },
    );
    expect([starts(), backend.status().state]).toEqual([2, 'running']);
  });

  it('waits no longer because several of an account failed side by side (T-155)', async () => {
    const { open } = startProgram({ command: 'sh', args: ['-c', 'exec sleep 60'], startMs: 500 });
    const failed = await Promise.allSettled(Array.from({ length: 4 }, () => open()));
    expect(failed.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    await expect(open()).rejects.toThrow(
      /did not answer initialize in time, and is asked again in (?:\d|10) s/,
    );
  });

  it('makes nobody wait who is another (T-158)', async () => {
    const { args, say } = files();
    const { open } = startProgram({}, args);
    const [ann, bob] = [await open({ subject: 'ann' }), await open({ subject: 'bob' })];
    say('ending');
    await ann.tool('crash');
    await ann.tool('echo');
    expect(await ann.tool('echo')).toMatchObject({ data: { reason: 'backend_restarting' } });
    say('sound');
    await bob.tool('crash');
    expect(await bob.tool('echo', { text: 'mine' })).toHaveProperty('said', 'mine');
  });

  it('tells who waits for it that it starts, where they gave a progress token', async () => {
    const talk = await startProgram({}, ['slow']).open();
    await talk.tool('crash');
    const answer = talk.tool('steps', {}, { progressToken: 'mine' });
    const first = await talk.hears(({ method }) => method === 'notifications/progress');
    expect(first.params).toMatchObject({
      progressToken: 'mine',
      message: 'The MCP server Notes is starting.',
    });
    await answer;
    const all = talk.heard.filter(({ method }) => method === 'notifications/progress');
    const told = all.map(({ params }) => Number(params?.progress));
    expect(told.slice(-3)).toEqual([1, 2, 3]);
    expect(told).toEqual([...told].sort((one, other) => one - other));
  });

  it('does not run what was cancelled while it started', async () => {
    const talk = await startProgram({}, ['slow']).open();
    await talk.tool('crash');
    talk.say({ id: 70, method: 'tools/call', params: { name: 'crash' } });
    talk.say({ method: 'notifications/cancelled', params: { requestId: 70 } });
    expect(await talk.tool('echo', { text: 'stands' })).toHaveProperty('said', 'stands');
  });

  it('was ended when nobody used it for long, and its client goes on', async () => {
    const { args, starts } = files();
    const { open, backend } = startProgram({ idleSeconds: 0.4 }, args);
    const talk = await open();
    await talk.tool('echo');
    await vi.waitFor(() => expect(backend.status().processes).toBe(0), { timeout: 5000 });
    expect(await talk.tool('told')).toMatchObject({ isReady: true });
    expect(starts()).toBe(2);
  });
});

describe('what a program says', () => {
  it('with a wrong id, or to nobody, reaches nobody (T-156)', async () => {
    const talk = await startProgram().open();
    expect(await talk.tool('astray')).toEqual({ said: 'in place' });
    expect(talk.heard.filter((message) => JSON.stringify(message).includes('astray'))).toEqual([]);
  });

  it('that is garbage is dropped, and what follows is heard (T-156)', async () => {
    const { open, log } = startProgram();
    const talk = await open();
    expect(await talk.tool('garbage')).toEqual({ said: 'after the garbage' });
    expect(log.filter((line) => line.includes('no MCP message'))).toHaveLength(5);
  });

  it.each(['vast', 'deep'])(
    'as an answer that is too %s to be read is an error for the call, at once (T-156)',
    async (kind) => {
      const talk = await startProgram().open();
      const slow = talk.tool('echo', { text: 'others', delayMs: 300 });
      expect(await talk.tool(kind)).toMatchObject({ data: { reason: 'backend_answer_too_large' } });
      expect(await slow).toMatchObject({ said: 'others' });
    },
  );

  it('as a line of 50 MB is an error for the call, and others go on (T-156)', async () => {
    const { open } = startProgram();
    const [ann, bob] = [await open({ subject: 'ann' }), await open({ subject: 'bob' })];
    const before = process.memoryUsage().rss;
    const long = ann.ask('tools/call', { name: 'long', arguments: { megabytes: 50 } });
    expect(await bob.tool('echo', { text: 'meanwhile' })).toHaveProperty('said', 'meanwhile');
    expect((await long).error).toMatchObject({ data: { reason: 'backend_answer_too_large' } });
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
    expect(await ann.tool('echo', { text: 'after' })).toHaveProperty('said', 'after');
  });

  it('a hundred thousand times a second is bounded, and others are answered in time (T-156)', async () => {
    const { open, log } = startProgram();
    const [ann, bob] = [await open({ subject: 'ann' }), await open({ subject: 'bob' })];
    const flooded = ann.tool('flood', { seconds: 1 });
    await pause(200);
    let slowest = 0;
    for (let count = 0; count < 20; count++) {
      const begun = performance.now();
      await bob.tool('echo', { text: 'x' });
      slowest = Math.max(slowest, performance.now() - begun);
    }
    expect(slowest).toBeLessThan(1000);
    const heard = ann.heard.length;
    await pause(1000);
    expect(ann.heard.length - heard).toBeLessThan(3000);
    expect(log.join('')).toContain('says too much unasked');
    ann.say({ method: 'notifications/cancelled', params: { requestId: 1 } });
    void flooded.catch(() => undefined);
  });
});

describe('the messages for a new process', () => {
  function tell(
    state: SessionReplayState,
    ...requests: [method: string, params: Record<string, unknown>, isResult: boolean][]
  ): void {
    for (const [id, [method, params, isResult]] of requests.entries()) {
      state.sent({ jsonrpc: '2.0', id, method, params });
      state.answered(id, isResult);
    }
  }

  describe('what a server was told', () => {
    it('is initialize, that the client is ready, its log level and its subscriptions, as far as the server took them', () => {
      const state = new SessionReplayState();
      expect(state.wasInitialized).toBe(false);
      tell(state, ['initialize', { protocolVersion: '2025-11-25' }, true]);
      state.sent({ jsonrpc: '2.0', method: 'notifications/initialized' });
      tell(
        state,
        ['logging/setLevel', { level: 'info' }, true],
        ['logging/setLevel', { level: 'refused' }, false],
        ['resources/subscribe', { uri: 'a:1' }, true],
        ['resources/subscribe', { uri: 'a:2' }, true],
        ['resources/subscribe', { uri: 'a:3' }, false],
        ['resources/unsubscribe', { uri: 'a:1' }, true],
        ['tools/call', { name: 'x' }, true],
      );
      expect(state.initialize).toEqual({ method: 'initialize', params: { protocolVersion: '2025-11-25' } });
      expect(state.afterInitialize()).toEqual([
        { method: 'notifications/initialized' },
        { method: 'logging/setLevel', params: { level: 'info' } },
        { method: 'resources/subscribe', params: { uri: 'a:2' } },
      ]);
      expect(state.hasSubscriptions).toBe(true);
    });

    it('is nothing before initialize was answered', () => {
      const state = new SessionReplayState();
      state.sent({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
      expect(state.wasInitialized).toBe(false);
      expect(state.afterInitialize()).toEqual([]);
    });
  });
});

describe('a process that is taken over', () => {
  function programThatIs(manner: string, options: Partial<StdioBackendOptions> = {}) {
    const program = nodeProgram('test/support/backend/older-program.ts', manner);
    const backend = createStdioBackend(
      'There',
      { ...program, ...options },
      { logger: createLogger('silent') },
    );
    onTestFinished(() => backend.close());
    return backend;
  }

  /** Has a conversation begin right after the program was asked what it speaks. */
  async function openAfterQuestion(backend: ReturnType<typeof programThatIs>) {
    const conversations = createConversations({ source: backend.source, logger: createLogger('silent') });
    onTestFinished(() => conversations.close());
    const caller = createCaller();
    expect(await backend.source.modern?.(caller)).toBeUndefined();
    const sinceMs = performance.now();
    const opening = await conversations.open(params, caller, { hear() {}, ended() {} });
    return { opening, tookMs: performance.now() - sinceMs };
  }

  describe('a program of an older revision that goes on as the process that was asked what it speaks (B1-09)', () => {
    it('is started anew where that process refuses initialize to a conversation that had one before', async () => {
      // So few that the question takes the place of the conversation's own.
      const backend = programThatIs('offended', { maxProcesses: 5 });
      const talk = await open(backend, 'ada');
      expect(await talk.ask('initialize', params)).toHaveProperty('result');
      talk.tell({ method: 'notifications/initialized' });
      expect(await talk.ask('tools/list')).toHaveProperty('result');
      expect(await backend.source.modern?.(callerFor(callerOf('ada')))).toBeUndefined();
      expect(await talk.ask('tools/list')).toHaveProperty('result');
      expect(backend.status()).toMatchObject({ processes: 1, failures: { count: 0 } });
    });

    it('is started anew where that process answers nothing more, in the time that is left', async () => {
      const backend = programThatIs('sulky', { startMs: 6_000 });
      const { opening, tookMs } = await openAfterQuestion(backend);
      expect(opening).not.toHaveProperty('error');
      expect(tookMs).toBeLessThan(6_000);
      expect(backend.status()).toMatchObject({ processes: 1, failures: { count: 0 } });
    });

    it('has the time of one start, however often it is started', async () => {
      const { opening, tookMs } = await openAfterQuestion(programThatIs('failing', { startMs: 3_000 }));
      expect(opening).toMatchObject({ error: { data: { reason: 'backend_start_timed_out' } } });
      expect(tookMs).toBeLessThan(3_800);
    });
  });
});

/** A program that says with which `_meta` it was begun and called, and ends when it is told to. */
const mirror = `
let begun = 'not at all';
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call' && params.name === 'end') process.exit(1);
  if (method === 'initialize') begun = params._meta ?? {};
  const answers = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } },
    'tools/call': { content: [], structuredContent: { begun, called: params?._meta ?? {} } },
  };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }));
});`;

it('A client passes no assertion of its own to a process, at no start of it; each request has one of the gateway', async () => {
  const member = 'mcp-gatehouse/caller-assertion';
  const backend = createStdioBackend(
    'a',
    { command: process.execPath, args: ['-e', mirror], caller: { assertion: true } },
    { logger: createLogger('silent'), assert: ({ subject }) => `about ${subject}` },
  );
  onTestFinished(() => backend.close());
  const talk = await open(backend);
  const _meta = { [member]: 'forged', auth: 'forged' };
  await talk.ask('initialize', { ...params, _meta });
  talk.tell({ method: 'notifications/initialized' });
  const call = (name: string) => talk.ask('tools/call', { name, arguments: {}, _meta });
  const called = { [member]: 'about ada' };
  expect((await call('look')).result?.structuredContent).toEqual({ begun: {}, called });
  expect((await call('end')).error?.data?.reason).toBe('backend_ended');
  await vi.waitFor(async () => {
    expect((await call('look')).result?.structuredContent).toEqual({ begun: {}, called });
  }, 10_000);
});
