// Flows of src/cluster: sessions of several nodes behind a balancer that deals requests out at random.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { obtainTokens } from '../../support/oauth.ts';
import { startNodes, type TestNodes } from '../../support/postgres/nodes.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { untilServed } from '../../support/postgres/process-nodes.ts';
import { openSession, toolCall } from '../restart/support/session.ts';
import { makeSlowServer } from '../restart/support/slow-server.ts';

const server = usePostgres();

/** Starts nodes with a server for each session, and logs in. */
async function startSome(count: number, options: Parameters<typeof startNodes>[2] = {}) {
  const runs = join(mkdtempSync(join(tmpdir(), 'gatehouse-runs-')), 'runs');
  const database = await server().createDatabase();
  const nodes = await startNodes(database, count, { server: () => makeSlowServer(runs), ...options });
  const { tokens } = await obtainTokens(nodes, { scopes: ['mcp'], scope: 'mcp' });
  return { ...nodes, token: tokens.access_token };
}

const startTwo = () => startSome(2);

function portOf({ nodes }: TestNodes, index: number): number {
  return Number(new URL(nodes[index]?.listensAt ?? '').port);
}

describe('a session of two nodes', () => {
  it('is served by the node that opened it, whichever node is asked', async () => {
    const two = await startTwo();
    const { storage } = two.nodes[0] ?? {};
    const sessions = await Promise.all(Array.from({ length: 6 }, () => openSession(two)));
    for (let round = 0; round < 10; round++)
      for (const [index, session] of sessions.entries())
        expect(await session.call('echo', { said: `${index} ${round}` })).toMatchObject({
          result: { content: [{ text: `${index} ${round}` }] },
        });
    expect(await storage?.nodes.list()).toHaveLength(2);
  });

  it('takes a cancellation, gives progress and its own messages, through whichever node they come', async () => {
    const two = await startTwo();
    const [a, b] = [portOf(two, 0), portOf(two, 1)];
    two.balancer.only(a);
    const session = await openSession(two);
    two.balancer.only(b);
    const own = await session.listen();
    await session.call('log', { level: 'error', data: 'heard at the other node' });
    await own.until(({ params }) => params?.data === 'heard at the other node');
    const running = await session.postForStream(
      toolCall(1, 'slow', { label: 'cancelled', ms: 60_000 }, { progressToken: 1 }),
    );
    await running.until(({ method }) => method === 'notifications/progress');
    two.balancer.only(a);
    const duplicate = await session.post(toolCall(1, 'echo', { said: 'twice' }));
    expect(await duplicate.json()).toMatchObject({ error: { code: -32600 } });
    two.balancer.only(b);
    const cancelled = await session.post({
      ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
      params: { requestId: 1 },
    });
    expect(cancelled.status).toBe(202);
    await running.rest();
  });

  it('over HTTP+SSE takes its messages through whichever node they come', async () => {
    const two = await startTwo();
    const sse = { url: two.url, mcpUrl: `${two.url}/sse` };
    const { tokens } = await obtainTokens(sse, { scopes: ['mcp'], scope: 'mcp' });
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    two.balancer.only(portOf(two, 0));
    const stream = await fetch(sse.mcpUrl, { headers: { ...headers, accept: 'text/event-stream' } });
    let heard = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString();
    })();
    reading.catch(() => undefined);
    await expect.poll(() => /data: (\/messages\?sessionId=\S+)/.exec(heard)?.[1]).toBeDefined();
    const postUrl = `${two.url}${/data: (\/messages\?sessionId=\S+)/.exec(heard)?.[1]}`;
    for (const [index, port] of [portOf(two, 1), portOf(two, 0), portOf(two, 1)].entries()) {
      two.balancer.only(port);
      const body = JSON.stringify({ jsonrpc: '2.0', id: `ping ${index}`, method: 'ping' });
      const posted = await fetch(postUrl, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
      expect(posted.status).toBe(202);
      await expect.poll(() => heard).toContain(`"ping ${index}"`);
    }
    expect(
      (await fetch(postUrl.replace('=', '=0~'), { method: 'POST', headers, body: '{}' })).status,
    ).not.toBe(202);
  });

  it('goes to the other node if its own has stopped, and at once', async () => {
    const two = await startTwo();
    two.balancer.only(portOf(two, 0));
    const session = await openSession(two);
    await two.nodes[0]?.stop();
    two.balancer.only(portOf(two, 1));
    expect(await session.call('echo', { said: 'still here' })).toMatchObject({
      result: { content: [{ text: 'still here' }] },
    });
  });

  it('without a running call goes to the other node as soon as its own begins to stop, and a call that runs takes its cancellation', async () => {
    const two = await startTwo();
    two.balancer.only(portOf(two, 0));
    const [idle, busy] = [await openSession(two), await openSession(two)];
    two.balancer.only(portOf(two, 1));
    const running = await busy.postForStream(
      toolCall(1, 'slow', { label: 'cancelled', ms: 60_000 }, { progressToken: 1 }),
    );
    await running.until(({ method }) => method === 'notifications/progress');
    let isStopped = false;
    const stopped = two.nodes[0]?.stop(60_000).then(() => {
      isStopped = true;
    });
    const { response } = await untilServed(idle, toolCall(1, 'echo', { said: 'elsewhere' }));
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'elsewhere' }] } });
    const refused = await busy.post(toolCall(2, 'echo', { said: 'new' }));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(isStopped).toBe(false);
    const cancelled = await busy.post({
      ...{ jsonrpc: '2.0', method: 'notifications/cancelled' },
      params: { requestId: 1 },
    });
    expect(cancelled.status).toBe(202);
    await running.rest();
    await stopped;
  });

  it('gets the result of its call also if the node that forwards it stops meanwhile, and its own stream ends at once', async () => {
    const two = await startTwo();
    two.balancer.only(portOf(two, 0));
    const session = await openSession(two);
    two.balancer.only(portOf(two, 1));
    const own = await session.listen();
    const running = await session.postForStream(
      toolCall(1, 'slow', { label: 'forwarded', ms: 3_000 }, { progressToken: 1 }),
    );
    await running.until(({ method }) => method === 'notifications/progress');
    let isStopped = false;
    const stopped = two.nodes[1]?.stop(60_000).then(() => {
      isStopped = true;
    });
    await own.rest();
    expect([own.broke(), isStopped]).toEqual([false, false]);
    expect((await running.until(({ id }) => id === 1)).message?.result).toMatchObject({
      content: [{ text: 'forwarded' }],
    });
    await stopped;
  });
});

describe('a session that two nodes restore at once', () => {
  it('is restored by one of them, and the other forwards to it what it has read already', async () => {
    const three = await startSome(3);
    const { balancer, nodes } = three;
    balancer.only(portOf(three, 0));
    const sessions = await Promise.all(Array.from({ length: 8 }, () => openSession(three)));
    balancer.ports.splice(0, 1);
    await nodes[0]?.stop();
    balancer.only(undefined);
    const said = 'ü'.repeat(20_000);
    for (const session of sessions) {
      const asked = Array.from({ length: 8 }, (_, id) =>
        session.post(toolCall(id, 'echo', { said: said + id })),
      );
      for (const [id, answer] of (await Promise.all(asked)).entries())
        expect([answer.status, await answer.json()]).toMatchObject([
          200,
          { id, result: { content: [{ text: said + id }] } },
        ]);
    }
    const forwarded = nodes
      .slice(1)
      .flatMap(({ log }) => log.filter((line) => line.includes('could not be reached')));
    expect(forwarded).toEqual([]);
  });
});

describe('a client with as many sessions as it may have', () => {
  const mcp = { maxSessionsPerPrincipal: 2 };

  it('opens another one at any node: the longest unused one ends, and never one that is in use at another node (T-144)', async () => {
    const two = await startSome(2, { mcp });
    const [a, b] = [portOf(two, 0), portOf(two, 1)];
    two.balancer.only(a);
    const [busy, idle] = [await openSession(two), await openSession(two)];
    const running = await busy.postForStream(
      toolCall(1, 'slow', { label: 'busy', ms: 3_000 }, { progressToken: 1 }),
    );
    await running.until(({ method }) => method === 'notifications/progress');
    two.balancer.only(b);
    const fresh = await openSession(two);
    expect(fresh.id).not.toBe('');
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    expect((await idle.post(ping)).status).toBe(404);
    expect((await running.until(({ id }) => id === 1)).message?.result).toMatchObject({
      content: [{ text: 'busy' }],
    });

    const [first, second] = [await busy.listen(), await fresh.listen()];
    for (const port of [a, b]) {
      two.balancer.only(port);
      expect((await openSession(two)).id).toBe('');
    }
    first.leave();
    second.leave();
    await expect.poll(async () => (await openSession(two)).id).not.toBe('');
  });
});
