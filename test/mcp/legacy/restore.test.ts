import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { defaultSessionLimits, initializeRequest, startGate } from '../support/gate.ts';
import {
  createTalkingServer,
  initialized,
  inSession,
  openStream,
  ping,
  post,
  work,
} from '../support/talking-server.ts';

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

  it('brings a session back to nobody else, also where they come first: another account, or another client (T-125, T-126)', async () => {
    const { source, servers } = createTalkingServer();
    const gate = await startGate({ source });
    const ann = gate.issue('ann');
    const others = [gate.issue('bob'), gate.issue('ann', { clientId: 'another' })];
    const session = await gate.initialize(ann);
    await gate.restart();
    for (const other of others)
      for (const request of [{ json: ping() }, { method: 'GET' }, { method: 'DELETE' }]) {
        const headers = { ...inSession(session), accept: 'application/json, text/event-stream' };
        expect((await gate.send(other, { ...request, headers })).status).toBe(404);
      }
    expect(servers).toHaveLength(1);
    expect((await gate.send(ann, { json: ping(), headers: inSession(session) })).status).toBe(200);
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

  it('answers two that come for the same call with one error (B3-09)', async () => {
    const { source } = createTalkingServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const session = await gate.initialize(token);
    const first = await (await post(gate, token, session, work(500))).next();
    await sleep(30);
    await gate.restart();
    const both = await Promise.all([1, 2].map(() => openStream(gate, token, session, first?.id)));
    const answers = (await Promise.all(both.map((stream) => stream.rest()))).flat();
    const ids = answers.filter(({ message }) => message?.id === 7).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(1);
  });
});
