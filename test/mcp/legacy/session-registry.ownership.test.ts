import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Peers, ServerSource } from '../../../src/mcp/index.ts';
import { defaultSessionLimits, initializeRequest, startGate } from '../support/gate.ts';
import { createTalkingServer, inSession, openStream, ping, post, work } from '../support/talking-server.ts';
import { createSlowServer } from '../support/tools.ts';

/** Other processes that a test plays, with what was asked of them in order. */
function startPeers() {
  const asked: string[] = [];
  const held = new Set<string>();
  const lost = new Set<() => void>();
  const enders = new Set<(key: string) => Promise<boolean>>();
  /** What the other process does with a session of its own; undefined if it has none. */
  const other: { answer: 'is idle' | 'is in use' | undefined } = { answer: undefined };
  const peers: Peers = {
    id: 'this',
    sessions: {
      async claim(key) {
        asked.push('claim');
        if (other.answer) return 'other';
        held.add(key);
        return undefined;
      },
      opened: (key) => void held.add(key),
      release(key) {
        asked.push('release');
        held.delete(key);
      },
      holds: (key) => held.has(key),
      async endIdle() {
        asked.push('end');
        return other.answer === 'is idle';
      },
      onEndIdle(end) {
        enders.add(end);
        return () => enders.delete(end);
      },
      onLost(callback) {
        lost.add(callback);
        return () => lost.delete(callback);
      },
    },
    isAlive: async () => true,
    async forward(id, request, response, body) {
      response.end(JSON.stringify({ servedBy: id, method: request.method, body: body?.toString() }));
    },
    hasCounted: () => false,
  };
  const lose = (): void => {
    held.clear();
    for (const callback of lost) callback();
  };
  const endIdle = async (key: string): Promise<boolean> =>
    (await Promise.all([...enders].map((end) => end(key)))).includes(true);
  return { peers, asked, held, lose, other, endIdle };
}

describe('a session of one of several processes', () => {
  it('that is lost is claimed again only after its server has ended, and is not let go of afterwards', async () => {
    const { peers, asked, lose } = startPeers();
    const { source } = createSlowServer();
    const slow: ServerSource = {
      sharing: 'each',
      async create(context) {
        const server = await source.create(context);
        const close = server.close.bind(server);
        server.close = async () => {
          await sleep(300);
          await close();
        };
        return server;
      },
    };
    const gate = await startGate({ source: slow, peers });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    lose();
    const answer = await gate.send(token, { json: ping(), headers: inSession(session) });
    expect(answer.status).toBe(200);
    await sleep(400);
    expect(asked).toEqual(['release', 'claim']);
  });

  it('that another process has restored first is served there: the request goes on as it came, and no server starts here', async () => {
    const { peers, lose, other } = startPeers();
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, peers });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    lose();
    other.answer = 'is in use';
    const { made } = seen;
    const asked = { ...ping(7), params: { _meta: { 'a/b': 'ü' } } };
    const answer = await gate.send(token, { json: asked, headers: inSession(session) });
    expect(await answer.json()).toEqual({ servedBy: 'other', method: 'POST', body: JSON.stringify(asked) });
    const listened = await gate.send(token, { method: 'GET', headers: inSession(session) });
    expect(await listened.json()).toEqual({ servedBy: 'other', method: 'GET' });
    const stranger = await gate.send(gate.issue('eve'), { json: asked, headers: inSession(session) });
    expect(stranger.status).toBe(404);
    expect(seen.made).toBe(made);
  });

  it('whose row refuses a write is let go of, and nothing more is said in it', async () => {
    const { peers, asked } = startPeers();
    const rows = { isOurs: true };
    const { source, seen } = createSlowServer();
    const gate = await startGate({
      ...{ source, peers },
      wrapStore: (store) => ({
        ...store,
        change: (...change) => (rows.isOurs ? store.change(...change) : Promise.resolve(false)),
      }),
    });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    rows.isOurs = false;
    const set = { ...ping(7), method: 'logging/setLevel', params: { level: 'error' } };
    const answer = await gate.send(token, { json: set, headers: inSession(session) });
    expect(await answer.json()).toMatchObject({ id: 7, error: { code: -32000 } });
    await expect.poll(() => [seen.closed, asked]).toEqual([1, ['release']]);
  });

  it('that may not be served here at this moment says nothing to its client', async () => {
    const { peers, held } = startPeers();
    const { source } = createSlowServer();
    const gate = await startGate({ source, peers });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const keys = [...held];
    held.clear();
    const silent = gate.send(token, {
      ...{ json: ping(7), headers: inSession(session) },
      signal: AbortSignal.timeout(300),
    });
    await expect(silent.then((answer) => answer.text())).rejects.toThrow();
    for (const key of keys) held.add(key);
    const answer = await gate.send(token, { json: ping(8), headers: inSession(session) });
    expect(await answer.json()).toMatchObject({ id: 8, result: {} });
  });
});

describe('a session of the only process, while another one has served in its place', () => {
  it('is refused while it is restored, or the lease is over, and restored from the storage after it', async () => {
    const { source, seen } = createSlowServer();
    const hold = Promise.withResolvers<void>();
    const slow: ServerSource = {
      sharing: 'each',
      async create(context) {
        const server = await source.create(context);
        if (seen.made > 1) await hold.promise;
        return server;
      },
    };
    let lose = (): void => undefined;
    let isCurrent = true;
    const gate = await startGate({
      source: slow,
      lease: {
        isCurrent: () => isCurrent,
        onLost(callback) {
          lose = callback;
          return () => undefined;
        },
      },
    });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    lose();
    const answering = gate.send(token, { json: ping(), headers });
    await expect.poll(() => seen.made).toBe(2);
    lose();
    hold.resolve();
    const refused = await answering;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    isCurrent = false;
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(503);
    expect([seen.made, seen.closed]).toEqual([2, 2]);
    isCurrent = true;
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(200);
    expect([seen.made, seen.closed]).toEqual([3, 2]);
  });
});

describe.each(['one of several processes', 'the only process'])('at a reloaded route of %s', (kind) => {
  const installation = () => (kind === 'the only process' ? {} : { peers: startPeers().peers });

  it('a session is restored only after its old server has ended, and its later calls are answered', async () => {
    const { source } = createSlowServer();
    const steps: string[] = [];
    const slow: ServerSource = {
      sharing: 'each',
      async create(context) {
        steps.push('made');
        const server = await source.create(context);
        const close = server.close.bind(server);
        server.close = async () => {
          await sleep(300);
          await close();
          steps.push('closed');
        };
        return server;
      },
    };
    const gate = await startGate({ ...installation(), source: slow });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    const replaced = gate.replace(5_000);
    expect((await gate.send(token, { json: ping(1), headers })).status).toBe(200);
    await replaced;
    await expect.poll(() => steps).toContain('closed');
    const answer = await gate.send(token, { json: ping(2), headers, signal: AbortSignal.timeout(2_000) });
    expect(await answer.json()).toMatchObject({ id: 2, result: {} });
    expect(steps).toEqual(['made', 'closed', 'made']);
  });

  it('a running call gets its response, also on a stream that its client resumes meanwhile', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ ...installation(), source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const running = await post(gate, token, session, work(800));
    const { id: last } = await running.until(({ method }) => method === 'notifications/message');
    running.leave();
    const replaced = gate.replace(5_000);
    const resumed = await openStream(gate, token, session, last);
    const answer = await resumed.until(({ id }) => id === 7);
    expect(answer.message?.result).toMatchObject({ content: [{ text: 'done' }] });
    await replaced;
    expect(servers).toHaveLength(2);
    expect(await gate.call(token, session, 'ping', {}, 8)).toMatchObject({ id: 8, result: {} });
  });

  it('a running call gets the input that it asked its client for', async () => {
    const gate = await startGate({ ...installation(), source: createSlowServer().source });
    const token = gate.issue('ann');
    const json = initializeRequest();
    Object.assign(json.params.capabilities, { sampling: {} });
    const opened = await gate.send(token, { json });
    await opened.text();
    const session = opened.headers.get('mcp-session-id') ?? '';
    const call = { ...ping(7), method: 'tools/call', params: { name: 'ask', arguments: {} } };
    const running = await post(gate, token, session, call);
    const { message } = await running.until(({ method }) => method === 'sampling/createMessage');
    const replaced = gate.replace(5_000);
    const result = { role: 'assistant', model: 'm', content: { type: 'text', text: 'given' } };
    const given = { jsonrpc: '2.0', id: message?.id, result };
    const taken = await gate.send(token, { json: given, headers: inSession(session) });
    expect(taken.status).toBe(202);
    const answer = await running.until(({ id }) => id === 7);
    expect(JSON.stringify(answer.message?.result)).toContain('given');
    await replaced;
  });

  it('a session that begins while its server is replaced goes on at the new one', async () => {
    const { source, servers } = createTalkingServer();
    const storing = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const gate = await startGate({
      ...{ ...installation(), source },
      wrapStore: (store) => ({
        ...store,
        async open(...session) {
          begun.resolve();
          await storing.promise;
          return store.open(...session);
        },
      }),
    });
    const token = gate.issue('ann');
    const opening = gate.initialize(token);
    await begun.promise;
    await gate.replace(0);
    storing.resolve();
    const session = await opening;
    const answer = await gate.send(token, {
      ...{ json: ping(8), headers: inSession(session) },
      signal: AbortSignal.timeout(5_000),
    });
    expect(await answer.json()).toMatchObject({ id: 8, result: {} });
    expect(servers).toHaveLength(2);
  });

  it('a new session does not end one whose call still runs (T-144)', async () => {
    const { source } = createTalkingServer();
    const sessionLimits = { ...defaultSessionLimits, maxPerPrincipal: 1 };
    const gate = await startGate({ ...installation(), source, sessionLimits });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const running = await post(gate, token, session, work(500));
    const replaced = gate.replace(5_000);
    expect((await gate.send(token, { json: initializeRequest() })).status).toBe(429);
    expect((await running.until(({ id }) => id === 7)).message?.result).toBeDefined();
    await replaced;
    expect((await gate.send(token, { json: initializeRequest() })).status).toBe(200);
  });

  it('a request that waits for the old server is refused with 503 if the new one is replaced, too', async () => {
    const { source, servers } = createTalkingServer();
    const asked = Promise.withResolvers<void>();
    const gate = await startGate({
      ...{ ...installation(), source },
      wrapStore: (store) => ({
        ...store,
        find: (key) => store.find(key).finally(asked.resolve),
      }),
    });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const running = await post(gate, token, session, work(500));
    const first = gate.replace(5_000);
    const waiting = gate.send(token, { json: ping(8), headers: inSession(session) });
    await asked.promise;
    const second = gate.replace(5_000);
    const refused = await waiting;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await running.until(({ id }) => id === 7)).message?.result).toBeDefined();
    await Promise.all([first, second]);
    expect(await gate.call(token, session, 'ping', {}, 9)).toMatchObject({ id: 9, result: {} });
    expect(servers).toHaveLength(2);
  });
});

/** A session whose next request with another grant waits in the storage, until a test lets it go on. */
async function startWaitingRequest(method: 'GET' | 'POST') {
  const { peers, asked } = startPeers();
  const [waits, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const gate = await startGate({
    ...{ source: createSlowServer().source, peers },
    wrapStore: (store) => ({
      ...store,
      async change(key, change) {
        if (change.grantHash !== undefined) {
          waits.resolve();
          await goOn.promise;
        }
        return store.change(key, change);
      },
    }),
  });
  const session = await gate.initialize(gate.issue('ann', { grantId: 'first' }));
  const token = gate.issue('ann', { grantId: 'second' });
  const headers = inSession(session);
  const answering = gate.send(token, { method, headers, ...(method === 'POST' && { json: ping() }) });
  await waits.promise;
  return { gate, token, headers, asked, answering, goOn: goOn.resolve };
}

describe('a request that is on its way when its session ends at this process', () => {
  it.each(['GET', 'POST'] as const)(
    'is told to come back, if the session moves as this process stops: %s',
    async (method) => {
      const { gate, asked, answering, goOn } = await startWaitingRequest(method);
      const closing = gate.close(1_000);
      await expect.poll(() => asked).toEqual(['release']);
      goOn();
      const answer = await answering;
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      await closing;
    },
  );

  it('is told to come back, if the session is still being restored as this process stops', async () => {
    const { peers, lose } = startPeers();
    const { source } = createSlowServer();
    const [waits, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let made = 0;
    const slow: ServerSource = {
      sharing: 'each',
      async create(context) {
        if (made++ > 0) {
          waits.resolve();
          await goOn.promise;
        }
        return source.create(context);
      },
    };
    const gate = await startGate({ source: slow, peers });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    lose();
    const answering = gate.send(token, { json: ping(), headers });
    await waits.promise;
    const closing = gate.close();
    goOn.resolve();
    const answer = await answering;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    await closing;
  });

  it('is told that there is no such session, if its client has ended it', async () => {
    const { gate, token, headers, answering, goOn } = await startWaitingRequest('POST');
    expect((await gate.send(token, { method: 'DELETE', headers })).status).toBe(200);
    goOn();
    expect((await answering).status).toBe(404);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(404);
  });
});

describe('a new session beyond the number that a client may have', () => {
  const limits = { ...defaultSessionLimits, maxPerPrincipal: 1 };

  it('ends the old one at the process that has it, and is refused if it is in use there (T-144)', async () => {
    const { peers, asked, other } = startPeers();
    const gate = await startGate({ source: createSlowServer().source, peers, sessionLimits: limits });
    const token = gate.issue('ann');
    await gate.initialize(token);
    other.answer = 'is in use';
    expect((await gate.send(token, { json: initializeRequest() })).status).toBe(429);
    expect(asked.filter((what) => what === 'end').length).toBeGreaterThan(0);
    other.answer = undefined;
    expect((await gate.send(token, { json: initializeRequest() })).status).toBe(200);
  });

  it('ends for another process only a session of this one that is not in use (T-144)', async () => {
    const { peers, held, endIdle } = startPeers();
    const gate = await startGate({ source: createSlowServer().source, peers, sessionLimits: limits });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const [key = ''] = held;
    const aborting = new AbortController();
    const stream = await gate.send(token, {
      ...{ method: 'GET', headers: inSession(session), signal: aborting.signal },
    });
    expect(stream.status).toBe(200);
    expect([await endIdle(key), await endIdle('unknown')]).toEqual([false, false]);
    aborting.abort();
    await expect.poll(() => endIdle(key)).toBe(true);
    expect((await gate.send(token, { json: ping(), headers: inSession(session) })).status).toBe(404);
  });
});
