import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { startSseEndpoint } from '../support/sse-endpoint.ts';
import { createPatientServer } from '../support/sse-server.ts';
import { openStream, type RawStream } from '../support/sse-stream.ts';

const request = (id: string | number, method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const echo = (id: string | number, text = 'x') =>
  request(id, 'tools/call', { name: 'echo', arguments: { text } });
const wait = (id: string | number, label = 'a') =>
  request(id, 'tools/call', { name: 'wait', arguments: { label } });

async function statusesOf(stream: RawStream, ...messages: unknown[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const message of messages) statuses.push((await stream.post(message)).status);
  return statuses;
}

describe('initialize on a stream of HTTP+SSE', () => {
  it('comes first: until then ping is answered and every other request gets an error on the stream', async () => {
    const stream = await openStream(await startSseEndpoint(createPatientServer().factory));
    const early = [echo(1), request(2, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }];
    expect(await statusesOf(stream, ...early)).toEqual([202, 202, 202]);
    expect(await stream.message()).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(await stream.message()).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect(await stream.initialize()).toMatchObject({ serverInfo: { name: 'patient' } });
  });

  it('is refused with 400 when something is missing of it', async () => {
    const stream = await openStream(await startSseEndpoint(createPatientServer().factory));
    const answer = await stream.post(request(1, 'initialize', { protocolVersion: '2024-11-05' }));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  it('is answered once a stream; another one gets an error and changes nothing', async () => {
    const { factory, witness } = createPatientServer();
    const stream = await openStream(await startSseEndpoint(factory));
    await stream.initialize();
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    await stream.post(request(1, 'initialize', params));
    expect(await stream.message()).toMatchObject({ id: 1, error: { code: -32600 } });
    await stream.post(echo(2));
    expect(await stream.message()).toMatchObject({ id: 2, result: {} });
    expect(witness.made).toHaveLength(1);
  });

  it('gets an error on the stream when no server can be made, and may be tried again', async () => {
    const { factory } = createPatientServer();
    let isBroken = true;
    const endpoint = await startSseEndpoint((context) => {
      if (isBroken) throw new Error('the database of the tools is away');
      return factory(context);
    });
    const stream = await openStream(endpoint);
    expect(await stream.initialize()).toBeUndefined();
    expect(stream.text()).not.toContain('database');
    expect(endpoint.log.join()).toContain('the database of the tools is away');
    isBroken = false;
    expect(await stream.initialize()).toMatchObject({ protocolVersion: '2024-11-05' });
  });
});

describe('the requests on a stream of HTTP+SSE', () => {
  it('are refused while their id is in use; 1 and "1" are two ids (T-142)', async () => {
    const { factory, release } = createPatientServer();
    const stream = await openStream(await startSseEndpoint(factory));
    await stream.initialize();
    expect(await statusesOf(stream, wait(1, 'first'), wait(1, 'second'), wait('1', 'third'))).toEqual([
      202, 400, 202,
    ]);
    release();
    const answers = [await stream.message(), await stream.message()];
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([1, '1']));
    expect(JSON.stringify(answers)).not.toContain('second');
    expect(await statusesOf(stream, echo(1))).toEqual([202]);
    expect(await stream.message()).toMatchObject({ id: 1 });
  });

  it('free their id when they are cancelled, and are not answered (T-141)', async () => {
    const { factory, witness } = createPatientServer();
    const stream = await openStream(await startSseEndpoint(factory));
    await stream.initialize();
    await stream.post(wait(1));
    await vi.waitFor(() => expect(witness.started).toEqual(['a']));
    await stream.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await vi.waitFor(() => expect(witness.aborted).toEqual(['a']));
    expect(await statusesOf(stream, echo(1, 'again'))).toEqual([202]);
    expect(JSON.stringify(await stream.message())).toContain('again');
  });

  it('are refused with 429 when too many of a principal run, and none of a refused batch counts', async () => {
    const { factory, release } = createPatientServer();
    const stream = await openStream(await startSseEndpoint(factory, { maxCalls: 2 }));
    await stream.initialize('2025-03-26');
    const statuses = await statusesOf(stream, [wait(1), wait(2), wait(3)], wait(1), wait(2), wait(3));
    expect(statuses).toEqual([429, 202, 202, 429]);
    release();
    await stream.message();
    await stream.message();
    expect(await statusesOf(stream, [echo(1), echo(2)])).toEqual([202]);
  });

  it('may come as a batch in 2025-03-26 alone, each answered by an event of its own (C1-02, T-136)', async () => {
    const endpoint = await startSseEndpoint(createPatientServer().factory);
    const batch = [echo(1, 'one'), request(2, 'ping'), { jsonrpc: '2.0', method: 'notifications/x' }];
    const stream = await openStream(endpoint);
    expect(await statusesOf(stream, batch)).toEqual([400]);
    await stream.initialize('2025-03-26');
    expect(await statusesOf(stream, [echo(1), echo(1)], batch, [])).toEqual([400, 202, 400]);
    const ids = [(await stream.message()).id, (await stream.message()).id];
    expect(ids.sort()).toEqual([1, 2]);
    for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      const other = await openStream(endpoint);
      await other.initialize(revision);
      expect(await statusesOf(other, batch)).toEqual([400]);
    }
  });
});

describe('a stream of HTTP+SSE ends', () => {
  it('when the client says nothing for the time allowed, but not while it waits for an answer (B2-04)', async () => {
    const { factory, release, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory, { idleMs: 150 });
    const waiting = await openStream(endpoint);
    await waiting.initialize();
    await waiting.post(wait(1));
    const silent = await openStream(endpoint);
    expect(await silent.next()).toBeUndefined();
    await pause(200);
    release();
    expect(await waiting.message()).toMatchObject({ id: 1 });
    expect(await waiting.next()).toBeUndefined();
    await vi.waitFor(() => expect([endpoint.open, endpoint.watched.size]).toEqual([[], 0]));
    expect(witness.closed).toBe(1);
  });

  it('when the access it hangs on ends, and its calls with it; nothing is taken any more (A12-04, T-103)', async () => {
    const { factory, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory);
    const stream = await openStream(endpoint);
    await stream.initialize();
    await stream.post(wait(1));
    await vi.waitFor(() => expect(witness.started).toHaveLength(1));
    for (const { onEnd } of endpoint.watched) onEnd();
    expect(await stream.next()).toBeUndefined();
    expect((await stream.post(echo(2))).status).toBe(404);
    await vi.waitFor(() => expect(witness).toMatchObject({ closed: 1, aborted: ['a'] }));
    expect(endpoint.watched.size).toBe(0);
  });

  it('when nothing is served any more: what runs on it is answered with an error first (T-181)', async () => {
    const { factory, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory);
    const stream = await openStream(endpoint);
    await stream.initialize();
    await stream.post(wait(1));
    await stream.post(wait('1'));
    await vi.waitFor(() => expect(witness.started).toHaveLength(2));
    await endpoint.close();
    for (const id of [1, '1']) expect(await stream.message()).toMatchObject({ id, error: { code: -32603 } });
    expect(await stream.next()).toBeUndefined();
    expect(witness).toMatchObject({ closed: 1, aborted: ['a', 'a'] });
  });

  it('with the newest access of its principal: a refreshed token keeps it open (A12-04)', async () => {
    const endpoint = await startSseEndpoint(createPatientServer().factory);
    const stream = await openStream(endpoint, 'ann:2000000000');
    await stream.initialize();
    const watchedUntil = () => [...endpoint.watched].map(({ authInfo }) => authInfo.expiresAt);
    expect(watchedUntil()).toEqual([2000000000]);
    await stream.post(echo(1), 'ann:2000003600');
    expect(watchedUntil()).toEqual([2000003600]);
    await stream.post(echo(2), 'ann:2000000000');
    expect(watchedUntil()).toEqual([2000003600]);
  });

  it('not with an expired token: answers go on, what the server says else waits for a renewed one (A12-04)', async () => {
    const { factory, release, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory);
    const stream = await openStream(endpoint, 'ann:2000000000');
    await stream.initialize();
    await stream.post(wait(1));
    await vi.waitFor(() => expect(witness.started).toHaveLength(1));
    for (const { renewal } of endpoint.watched) renewal?.onExpiry();
    release();
    expect(await stream.message()).toMatchObject({ id: 1, result: {} });
    await witness.made[0]?.server.sendToolListChanged();
    expect(await statusesOf(stream, echo(2))).toEqual([202]);
    expect(await stream.message()).toMatchObject({ id: 2 });
    await stream.post(echo(3), 'ann:2000003600');
    expect(await stream.message()).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect(await stream.message()).toMatchObject({ id: 3 });
    expect([...endpoint.watched].map(({ authInfo }) => authInfo.expiresAt)).toEqual([2000003600]);
  });

  it('when more waits for a renewed token than is kept', async () => {
    const { factory, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory);
    const stream = await openStream(endpoint);
    await stream.initialize();
    for (const { renewal } of endpoint.watched) renewal?.onExpiry();
    for (let count = 0; count < 101; count++) await witness.made[0]?.server.sendToolListChanged();
    expect(await stream.next()).toBeUndefined();
    expect([endpoint.open, endpoint.watched.size]).toEqual([[], 0]);
  });

  it('when its client leaves, and its calls are cancelled (B2-04, T-146)', async () => {
    const { factory, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory);
    const stream = await openStream(endpoint);
    await stream.initialize();
    await stream.post(wait(1));
    await vi.waitFor(() => expect(witness.started).toHaveLength(1));
    stream.leave();
    await vi.waitFor(() => expect(witness).toMatchObject({ closed: 1, aborted: ['a'] }));
    expect([endpoint.open, endpoint.watched.size]).toEqual([[], 0]);
  });

  it('when its server closes the conversation', async () => {
    const { factory, witness } = createPatientServer();
    const endpoint = await startSseEndpoint(factory);
    const stream = await openStream(endpoint);
    await stream.initialize();
    await witness.made[0]?.close();
    expect(await stream.next()).toBeUndefined();
    expect(endpoint.open).toEqual([]);
  });
});
