import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FairQueue } from '../../../../src/collections/fair-queue.ts';
import { StreamableHttpLink } from '../../../../src/gateway/backends/remote/streamable-http.ts';
import { Wire } from '../../../../src/gateway/backends/remote/wire.ts';
import { HeldBytes } from '../../../../src/mcp/http/held-bytes.ts';
import { createWriteBatcher } from '../../../../src/net/write-batcher.ts';

/** A link to a server that answers pings, and never a call. @returns it, and what reached the server, a line each */
async function makeLink() {
  const reached: string[] = [];
  const server = createServer(async (request, response) => {
    const { method, id, params } = JSON.parse(await text(request));
    reached.push(`${method} ${id ?? params.requestId}`);
    if (method === 'ping')
      response.setHeader('content-type', 'application/json').end(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    else if (id === undefined) response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const wire = new Wire({ url, connectMs: 5_000, headMs: 5_000, bodyMs: 5_000, allowsPlainHttp: false });
  onTestFinished(() => {
    wire.close();
    server.closeAllConnections();
    server.close();
  });
  const lanes = new FairQueue({ running: 20, waiting: 20, perCaller: { running: 20, waiting: 20 } });
  const nothing = (): void => undefined;
  const link = new StreamableHttpLink(
    {
      ...{ wire, url, headers: [], credentials: {}, account: 'a', lanes, streams: lanes, maxHeld: 10 },
      ...{
        sendTogether: createWriteBatcher(),
        maxAnswerBytes: 1_000,
        maxAnswerValues: 1_000,
        held: new HeldBytes(),
      },
      ...{ noteFailure: nothing, noteUnreadable: nothing },
    },
    { hear: nothing, failed: nothing, lost: nothing },
  );
  const send = (method: string, id: number): void => link.send({ jsonrpc: '2.0', id, method, params: {} });
  const cancel = (requestId: number): void =>
    link.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  /** Waits until connections are open on which a message leaves when it is written. */
  const warmUp = async (): Promise<void> => {
    for (let id = 100; id < 108; id++) send('ping', id);
    await vi.waitFor(() => expect([reached.length, lanes.running]).toEqual([8, 0]));
    reached.length = 0;
  };
  return { link, lanes, reached, send, cancel, warmUp };
}

test('what cancels calls reaches the server, also where the link is closed right after (T-141)', async () => {
  const { link, reached, send, cancel, warmUp } = await makeLink();
  await warmUp();
  for (const id of [1, 2, 3]) send('tools/call', id);
  await vi.waitFor(() => expect(reached).toHaveLength(3));
  for (const id of [1, 2, 3]) {
    link.drop(id);
    cancel(id);
  }
  await link.close();
  await vi.waitFor(() =>
    expect(reached.slice(3).sort()).toEqual([1, 2, 3].map((id) => `notifications/cancelled ${id}`)),
  );
});

test('a request that is dropped before it has left never leaves, and gives its place back', async () => {
  const { link, lanes, reached, send, warmUp } = await makeLink();
  await warmUp();
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
  for (const id of [1, 2, 3]) send('tools/call', id);
  link.drop(2);
  await vi.waitFor(() => expect(reached).toHaveLength(2));
  expect([reached.sort(), lanes.running]).toEqual([['tools/call 1', 'tools/call 3'], 2]);
});
