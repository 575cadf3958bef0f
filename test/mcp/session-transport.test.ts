import { describe, expect, it } from 'vitest';
import { SessionTransport } from '../../src/mcp/session-transport.ts';
import { initializeRequest } from './support/gate.ts';

/** A transport after initialize, and a way to post to it. */
async function startTransport() {
  const transport = new SessionTransport({ sessionIdGenerator: () => 'session', keepAliveMs: 0 });
  const received: unknown[] = [];
  transport.onmessage = (message) => received.push(message);
  await transport.start();
  const post = (body: unknown): Promise<Response> =>
    transport.handleRequest(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-session-id': 'session',
        },
      }),
      { parsedBody: body },
    );
  const result = { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 's', version: '1' } };
  transport.begin([0]);
  const opened = await post(initializeRequest('2025-03-26'));
  await transport.send({ jsonrpc: '2.0', id: 0, result });
  await opened.text();
  return { transport, post };
}

const request = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const answerTo = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} });

describe('the transport of a session', () => {
  it('knows the version agreed on, and no later result changes it', async () => {
    const { transport, post } = await startTransport();
    transport.begin([1]);
    await post(request(1));
    await transport.send({ jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-11-25' } });
    expect(transport.protocolVersion).toBe('2025-03-26');
  });

  it('takes an id again only after its answer (T-142)', async () => {
    const { transport, post } = await startTransport();
    expect(transport.begin([1, 2])).toBe(true);
    expect([transport.begin([2, 3]), transport.begin([3]), transport.begin([4, 4])]).toEqual([
      false,
      true,
      false,
    ]);
    await post([request(1), request(2)]);
    await transport.send(answerTo(1));
    expect([transport.begin([1]), transport.begin([2])]).toEqual([true, false]);
  });

  it('is answering until the last answer, or until refused requests are forgotten', async () => {
    const { transport, post } = await startTransport();
    transport.begin([1]);
    await post(request(1));
    expect(transport.isAnswering).toBe(true);
    await transport.send(answerTo(1));
    expect(transport.isAnswering).toBe(false);
    transport.begin([2]);
    transport.forget([2]);
    expect(transport.isAnswering).toBe(false);
  });

  it('ends the stream of a cancelled request and sends nothing for it (T-141)', async () => {
    const { transport, post } = await startTransport();
    transport.begin([1]);
    const response = await post(request(1));
    await transport.cancel(1);
    expect(await response.text()).toBe('');
    expect(transport.isAnswering).toBe(false);
    await expect(transport.send(answerTo(1))).rejects.toThrow('No connection established');
  });

  it('goes on with the rest of a batch of which one request is cancelled (T-141)', async () => {
    const { transport, post } = await startTransport();
    transport.begin([1, 2]);
    const response = await post([request(1), request(2)]);
    await transport.cancel(1);
    expect(transport.begin([1])).toBe(false);
    await transport.send(answerTo(2));
    expect(await response.text()).toBe(`event: message\ndata: ${JSON.stringify(answerTo(2))}\n\n`);
    expect(transport.begin([1])).toBe(true);
  });

  it('ignores the cancelling of what is unknown or answered (T-141)', async () => {
    const { transport, post } = await startTransport();
    transport.begin([1]);
    await post(request(1));
    await transport.send(answerTo(1));
    await transport.cancel(1);
    await transport.cancel(99);
    expect(transport.isAnswering).toBe(false);
  });
});
