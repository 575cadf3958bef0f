import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ServerSource } from '../../../src/mcp/index.ts';
import { hashGrant } from '../../../src/mcp/legacy/session.ts';
import { defaultSessionLimits, initializeRequest, startGate } from '../support/gate.ts';
import { createTalkingServer, inSession, ping } from '../support/talking-server.ts';
import { createSlowServer, wait } from '../support/tools.ts';

describe('a flood of sessions', () => {
  const sessionLimits = { ...defaultSessionLimits, maxPerPrincipal: 3, maxTotal: 5, idleSeconds: 60 };

  it('opens none without a token (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, sessionLimits });
    for (let count = 0; count < 20; count++) await gate.send(undefined, { json: initializeRequest() });
    expect(seen.made).toBe(0);
  });

  it('of one account pushes out its own longest unused ones and nobody else (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, sessionLimits });
    const [ann, bob] = [gate.issue('ann'), gate.issue('bob')];
    const ofBob = await gate.initialize(bob);
    const opened: string[] = [];
    for (let count = 0; count < 20; count++) opened.push(await gate.initialize(ann));
    const status = async (token: string, session: string) =>
      (await gate.send(token, { json: ping(), headers: inSession(session) })).status;
    expect(await Promise.all(opened.slice(-4).map((session) => status(ann, session)))).toEqual([
      404, 200, 200, 200,
    ]);
    expect(await status(bob, ofBob)).toBe(200);
    expect(seen.made - seen.closed).toBe(4);
  });

  it('is refused with 429 while all sessions of the account are busy (T-144)', async () => {
    const { source } = createSlowServer();
    const gate = await startGate({ source, sessionLimits });
    const token = gate.issue('ann');
    for (let count = 0; count < 3; count++) {
      const headers = inSession(await gate.initialize(token));
      await gate.send(token, { json: { ...ping(), method: 'tools/call', params: wait(5000) }, headers });
    }
    const refused = await gate.send(token, { json: initializeRequest() });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  });

  it('of many accounts is refused with 503 once the server is full (T-144)', async () => {
    const gate = await startGate({ sessionLimits });
    for (let count = 0; count < 5; count++) await gate.initialize(gate.issue(`account-${count}`));
    const refused = await gate.send(gate.issue('late'), { json: initializeRequest() });
    expect(refused.status).toBe(503);
    gate.passTime(60);
    expect((await gate.send(gate.issue('later'), { json: initializeRequest() })).status).toBe(200);
  });
});

describe('a server that ends its session', () => {
  /** Servers whose tool closes them. */
  function createLeavingServer(): ServerSource {
    return {
      sharing: 'each',
      create: () => {
        const server = new McpServer({ name: 'leaving', version: '1.0.0' });
        server.registerTool('leave', { inputSchema: z.object({}) }, async () => {
          await server.close();
          return { content: [] };
        });
        return server;
      },
    };
  }

  it('does not end it for the client: the next request has another server', async () => {
    const gate = await startGate({ source: createLeavingServer() });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const left = await gate.call(token, session, 'tools/call', { name: 'leave', arguments: {} });
    expect(left.error?.code).toBeLessThan(0);
    expect(await gate.call(token, session, 'ping', {}, 2)).toMatchObject({ id: 2, result: {} });
  });

  it('ends no process, whatever the storage says to it (T-199)', async () => {
    const gate = await startGate({
      source: createLeavingServer(),
      wrapStore: (store) => ({ ...store, end: () => Promise.reject(new Error('disk full')) }),
    });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    await gate.call(token, session, 'tools/call', { name: 'leave', arguments: {} });
    expect((await gate.send(token, { json: ping(), headers: inSession(session) })).status).toBe(200);
  });
});

describe('what a client changes about its session', () => {
  it.each([
    ['logging/setLevel', { level: 'alert' }],
    ['resources/subscribe', { uri: 'test://a' }],
  ])('is acknowledged when it is kept, not before: %s (B3-10, T-166)', async (method, params) => {
    const keeping: (() => void)[] = [];
    const gate = await startGate({
      source: createTalkingServer().source,
      wrapStore: (store) => ({
        ...store,
        change: async (key, change) => {
          if (change.isInitialized === undefined) await new Promise<void>((resolve) => keeping.push(resolve));
          return store.change(key, change);
        },
      }),
    });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    let isAnswered = false;
    const answer = gate.call(token, session, method, params).then((message) => {
      isAnswered = true;
      return message;
    });
    await vi.waitFor(() => expect(keeping).toHaveLength(1));
    await gate.call(token, session, 'ping', {}, 2);
    expect(isAnswered).toBe(false);
    keeping[0]?.();
    expect(await answer).toMatchObject({ result: {} });
  });
});

describe('a flood of initialize', () => {
  it('counts as running calls before a server is made (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const making: (() => void)[] = [];
    const gate = await startGate({
      source: {
        sharing: 'each',
        create: async (context) => {
          await new Promise<void>((resolve) => making.push(resolve));
          return source.create(context);
        },
      },
      principalLimits: { maxCallsPerPrincipal: 2, maxStreamsPerPrincipal: 1 },
    });
    const token = gate.issue('ann');
    const answers = Array.from({ length: 20 }, () => gate.send(token, { json: initializeRequest() }));
    let refused = 0;
    for (const answer of answers) void answer.then(({ status }) => status === 429 && refused++);
    await vi.waitFor(() => expect(refused).toBe(18));
    expect(making).toHaveLength(2);
    for (const make of making) make();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(seen.made).toBe(2);
  });
});

describe('a session that its client ends', () => {
  it('does not come back with a request that arrives meanwhile (B3-10, T-125)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const outcomes = new Set<unknown>();
    for (let round = 0; round < 30; round++) {
      const headers = { 'mcp-session-id': await gate.initialize(token) };
      const ended = gate.send(token, { method: 'DELETE', headers });
      const streams = Array.from({ length: 4 }, () =>
        gate.send(token, { method: 'GET', headers, signal: AbortSignal.timeout(3000) }),
      );
      expect((await ended).status).toBe(200);
      for (const stream of streams) {
        const response = await stream;
        outcomes.add(response.status);
        // An open one ends with its session.
        await response.text();
      }
    }
    expect([200, 404]).toEqual(expect.arrayContaining([...outcomes]));
  });
});

it('a session belongs to the login of its client that used it last', async () => {
  const kept: unknown[] = [];
  const gate = await startGate({
    wrapStore: (store) => ({
      ...store,
      change(key, change) {
        kept.push(change.grantHash);
        return store.change(key, change);
      },
    }),
  });
  const [first, second] = ['first', 'second'].map((grantId) => gate.issue('ann', { grantId }));
  const headers = inSession(await gate.initialize(String(first)));
  for (const token of [first, second, second, first]) await gate.send(token, { json: ping(), headers });
  expect(kept.filter((hash) => hash !== undefined)).toEqual([hashGrant('second'), hashGrant('first')]);
});
