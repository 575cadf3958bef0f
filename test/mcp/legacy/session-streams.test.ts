import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defaultSessionLimits, startGate } from '../support/gate.ts';
import { createTalkingServer, inSession, openStream, ping, post, work } from '../support/talking-server.ts';

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
    const over = await openStream(gate, token, session, events.at(-1)?.id);
    expect([over.response.status, await over.rest()]).toEqual([204, []]);
  });

  it('ends after its last response, although a remote database stores that later (B3-09)', async () => {
    const [speak, finish, appended, stored] = [1, 2, 3, 4].map(() => Promise.withResolvers<void>());
    const create = (): McpServer => {
      const server = new McpServer({ name: 'steps', version: '1.0.0' }, { capabilities: { logging: {} } });
      server.registerTool('steps', { inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
        const say = (data: string) =>
          mcpReq.notify({ method: 'notifications/message', params: { level: 'error', data } });
        await say('begun');
        await speak?.promise;
        await say('halfway');
        await finish?.promise;
        return { content: [] };
      });
      return server;
    };
    let isRead = false;
    const gate = await startGate({
      source: { sharing: 'each', create },
      wrapStore: (store) => ({
        ...store,
        isRemote: true,
        async append(...written) {
          if (isRead) {
            appended?.resolve();
            await stored?.promise;
          }
          return store.append(...written);
        },
        async resume(...read) {
          const kept = await store.resume(...read);
          isRead = true;
          speak?.resolve();
          await appended?.promise;
          return kept;
        },
      }),
    });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const call = { ...work(0), params: { name: 'steps', arguments: {} } };
    const stream = await post(gate, token, session, call);
    const begun = await stream.until(({ method }) => method === 'notifications/message');
    stream.leave();
    const resumed = await openStream(gate, token, session, begun.id);
    finish?.resolve();
    // Its response is behind that of the call.
    await gate.call(token, session, 'ping', {}, 8);
    stored?.resolve();
    const events = await resumed.rest();
    expect(events.map(({ message }) => message?.params?.data ?? message?.id)).toEqual(['halfway', 7]);
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
