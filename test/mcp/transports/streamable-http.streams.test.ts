import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ServerSource } from '../../../src/mcp/index.ts';
import { type EventReader, readEvents } from '../support/event-reader.ts';
import {
  defaultSessionLimits,
  type Gate,
  initializeRequest,
  readAnswer,
  startGate,
} from '../support/gate.ts';
import { createSlowServer, wait } from '../support/tools.ts';

// Also the test of src/mcp/sessions/session-streams.ts, session-stream.ts, post.ts, restore.ts and session.ts.

const ping = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'ping' });
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const inSession = (session: string, more: Record<string, string> = {}) => ({
  'mcp-session-id': session,
  ...more,
});

/** A server that can say something to its session at any time, and counts what its tool does. */
function createTalkingServer(): { source: ServerSource; servers: McpServer[]; runs: string[] } {
  const servers: McpServer[] = [];
  const runs: string[] = [];
  const create = (): McpServer => {
    const server = new McpServer(
      { name: 'talking', version: '1.0.0' },
      { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
    );
    server.server.setRequestHandler('resources/subscribe', (request) => {
      runs.push(`subscribed ${request.params.uri}`);
      return {};
    });
    server.registerTool('work', { inputSchema: z.object({ ms: z.number() }) }, async ({ ms }, context) => {
      runs.push('work');
      await context.mcpReq.notify({
        method: 'notifications/message',
        params: { level: 'error', data: 'begun' },
      });
      await sleep(ms);
      return { content: [{ type: 'text', text: 'done' }] };
    });
    server.registerTool('leave', { inputSchema: z.object({}) }, async (_input, context) => {
      context.http?.closeSSE?.();
      await sleep(50);
      return { content: [{ type: 'text', text: 'back' }] };
    });
    servers.push(server);
    return server;
  };
  return { source: { sharing: 'each', create }, servers, runs };
}

const work = (ms: number, id: unknown = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'work', arguments: { ms } },
});

function openStream(gate: Gate, token: string, session: string, last?: string): Promise<EventReader> {
  const headers = inSession(session, last === undefined ? {} : { 'last-event-id': last });
  return readEvents((signal) => gate.send(token, { method: 'GET', headers, signal }));
}

function post(gate: Gate, token: string, session: string, json: unknown): Promise<EventReader> {
  return readEvents((signal) => gate.send(token, { json, headers: inSession(session), signal }));
}

describe('the stream of a session', () => {
  it('opens with a comment and an event to come back with, and carries no answers (B3-07, B3-08, B4-01)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const stream = await openStream(gate, token, session);
    expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream',
    ]);
    expect(await stream.next()).toMatchObject({ id: expect.stringMatching(/^own-/), data: '' });
    expect(await stream.next()).toEqual({ retry: 1000 });
    await (await gate.send(token, { json: ping(), headers: inSession(session) })).text();
    const rest = stream.rest();
    await gate.send(token, { method: 'DELETE', headers: inSession(session) });
    expect(await rest).toEqual([]);
  });

  it('has no such first event before 2025-11-25, whose clients read every event as a message', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token, '2025-06-18');
    const stream = await openStream(gate, token, session);
    servers[0]?.sendResourceListChanged();
    expect((await stream.next())?.message?.method).toBe('notifications/resources/list_changed');
  });

  it('is one: a new one takes over, as a client does whose connection a proxy holds open (B3-08)', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const first = await openStream(gate, token, session);
    const second = await openStream(gate, token, session);
    servers[0]?.sendResourceListChanged();
    await second.until(({ method }) => method === 'notifications/resources/list_changed');
    expect((await first.rest()).filter(({ message }) => message)).toEqual([]);
  });

  it('brings what came while nobody listened, once (B3-09)', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    servers[0]?.sendResourceListChanged();
    const first = await openStream(gate, token, session);
    await first.until(({ method }) => method === 'notifications/resources/list_changed');
    first.leave();
    await sleep(20);
    const second = await openStream(gate, token, session);
    await servers[0]?.server.sendResourceUpdated({ uri: 'test://x' });
    const event = await second.until(() => true);
    expect(event.message?.method).toBe('notifications/resources/updated');
  });

  it('needs Accept: text/event-stream', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = { ...inSession(await gate.initialize(token)), accept: 'application/json' };
    expect((await gate.send(token, { method: 'GET', headers })).status).toBe(406);
  });

  it('keeps its session in use, and ends with the access of who opened it (A12-04)', async () => {
    const gate = await startGate({ sessionLimits: { ...defaultSessionLimits, idleSeconds: 60 } });
    const [brief, lasting] = [gate.issue('ann'), gate.issue('ann')];
    const session = await gate.initialize(brief);
    const stream = await openStream(gate, brief, session);
    const ended = stream.rest();
    gate.passTime(100);
    expect((await gate.send(lasting, { json: ping(), headers: inSession(session) })).status).toBe(200);
    gate.revoke(brief);
    await ended;
  });
});

describe('a stream that broke off', () => {
  it('goes on where it was, with what was missed (B3-09, B4-03)', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const stream = await post(gate, token, session, work(150));
    const begun = await stream.until(({ method }) => method === 'notifications/message');
    stream.leave();
    await sleep(20);
    const resumed = await openStream(gate, token, session, begun.id);
    const events = await resumed.rest();
    expect(events.map(({ message }) => message?.id)).toEqual([7]);
    const late = await (await openStream(gate, token, session, begun.id)).rest();
    expect(late.map(({ message }) => message?.id)).toEqual([7]);
  });

  it('is left by the server itself, which says when to come back (B4-02)', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const json = { ...work(0), params: { name: 'leave', arguments: {} } };
    const events = await (await post(gate, token, session, json)).rest();
    expect(events.at(-1)).toEqual({ retry: 1000 });
    const resumed = await (await openStream(gate, token, session, events[0]?.id)).rest();
    expect(resumed.map(({ message }) => message?.id)).toEqual([7]);
  });

  it.each(['anything', 'own-none/1', '../x/1', '', 'waiting/0'])(
    'is not found by the event id %j (T-140)',
    async (last) => {
      const gate = await startGate();
      const token = gate.issue('ann');
      const stream = await openStream(gate, token, await gate.initialize(token), last);
      expect(stream.response.status).toBe(400);
    },
  );

  it('is not found from another session or by another account (T-140)', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source });
    const [ann, bob] = [gate.issue('ann'), gate.issue('bob')];
    const session = await gate.initialize(ann);
    const stream = await post(gate, ann, session, work(100));
    const begun = await stream.until(({ method }) => method === 'notifications/message');
    const other = await openStream(gate, ann, await gate.initialize(ann), begun.id);
    expect(other.response.status).toBe(400);
    const ofBob = await openStream(gate, bob, await gate.initialize(bob), begun.id);
    expect(ofBob.response.status).toBe(400);
    expect((await openStream(gate, bob, session, begun.id)).response.status).toBe(404);
  });

  it('is forgotten beyond the bounds of what is kept, oldest first', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source, sessionLimits: { ...defaultSessionLimits, maxEvents: 2 } });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const events = await (await post(gate, token, session, work(10))).rest();
    for (let round = 0; round < 3; round++) await (await post(gate, token, session, work(1, round))).rest();
    const resumed = await openStream(gate, token, session, events[0]?.id);
    const texts = (await resumed.rest()).map(({ data }) => data);
    expect(texts.join()).not.toContain('begun');
  });
});

describe('a restart of the process', () => {
  it('leaves sessions as they were: the same id goes on, with a server that is told everything again (B3-10)', async () => {
    const { source, servers, runs } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const opening = initializeRequest();
    const opened = await gate.send(token, {
      json: { ...opening, params: { ...opening.params, capabilities: { roots: {} } } },
    });
    await opened.text();
    const session = opened.headers.get('mcp-session-id') ?? '';
    await gate.send(token, { json: initialized, headers: inSession(session) });
    await gate.call(token, session, 'resources/subscribe', { uri: 'test://a' });
    await gate.call(token, session, 'logging/setLevel', { level: 'alert' });
    await gate.restart();

    expect(await gate.call(token, session, 'ping')).toMatchObject({ result: {} });
    expect(servers).toHaveLength(2);
    expect(servers[1]?.server.getClientCapabilities()).toEqual({ roots: {} });
    expect(runs).toEqual(['subscribed test://a', 'subscribed test://a']);
    const stream = await post(gate, token, session, work(0));
    expect((await stream.rest()).map(({ message }) => message?.method ?? message?.id)).not.toContain(
      'notifications/message',
    );
  });

  it('ends calls that ran with one error, and brings what was missed before (B3-09)', async () => {
    const { source, runs } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const stream = await post(gate, token, session, work(300));
    const first = await stream.next();
    await stream.until(({ method }) => method === 'notifications/message');
    await sleep(30);
    await gate.restart();

    const resumed = await (await openStream(gate, token, session, first?.id)).rest();
    expect(resumed.map(({ message }) => message?.method ?? message?.id)).toEqual([
      'notifications/message',
      7,
    ]);
    expect(resumed[1]?.message?.error?.message).toContain('restarted');
    const again = await (await openStream(gate, token, session, resumed[0]?.id)).rest();
    expect(again.map(({ id, message }) => [id, message?.id])).toEqual([[resumed[1]?.id, 7]]);
    expect(runs).toEqual(['work']);
  });

  it('loses nothing that waited for a listener, and forgets questions nobody waits for any more (T-128)', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    servers[0]?.server.ping().catch(() => undefined);
    servers[0]?.sendResourceListChanged();
    await sleep(50);
    await gate.restart();
    const stream = await openStream(gate, token, session);
    const event = await stream.until(() => true);
    expect(event.message?.method).toBe('notifications/resources/list_changed');
  });

  it('brings a session back once for many requests at a time, and to nobody else (T-125, T-127)', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ source });
    const [ann, bob] = [gate.issue('ann'), gate.issue('bob')];
    const session = await gate.initialize(ann);
    await gate.restart();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const response = await gate.send(index % 2 ? bob : ann, {
          json: ping(index),
          headers: inSession(session),
        });
        await response.text();
        return response.status;
      }),
    );
    expect(statuses).toEqual(Array.from({ length: 20 }, (_, index) => (index % 2 ? 404 : 200)));
    expect(servers).toHaveLength(2);
  });

  it('does not bring back a session that was ended or too long unused (B3-10, T-144)', async () => {
    const gate = await startGate({ sessionLimits: { ...defaultSessionLimits, idleSeconds: 60 } });
    const token = gate.issue('ann');
    const [ended, unused] = [await gate.initialize(token), await gate.initialize(token)];
    await gate.send(token, { method: 'DELETE', headers: inSession(ended) });
    await gate.restart();
    gate.passTime(61);
    for (const session of [ended, unused])
      expect((await gate.send(token, { json: ping(), headers: inSession(session) })).status).toBe(404);
  });
});

describe('a session that ends while a call runs', () => {
  it('answers the call with an error (T-142)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source, streamAfterMs: 1000 });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const running = gate.send(token, {
      json: { ...ping(3), method: 'tools/call', params: wait(400) },
      headers: inSession(session),
    });
    await vi.waitFor(() => expect(seen.started).toEqual(['a']));
    await gate.send(token, { method: 'DELETE', headers: inSession(session) });
    expect(await readAnswer(await running)).toMatchObject({ id: 3, error: { code: -32000 } });
    expect(seen.aborted).toEqual(['a']);
  });
});

describe('what is kept of a session', () => {
  it('resumes although an event was too large to keep, and at once', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source, sessionLimits: { ...defaultSessionLimits, maxBytes: 10 } });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const stream = await post(gate, token, session, work(150));
    const begun = await stream.until(({ method }) => method === 'notifications/message');
    stream.leave();
    const resumed = await openStream(gate, token, session, begun.id);
    expect(resumed.response.status).toBe(200);
    expect((await resumed.rest()).map(({ message }) => message?.id)).toEqual([7]);
  });
});
