import { describe, expect, it } from 'vitest';
import { EventStreamTransport } from '../../../src/client/transports/event-stream-transport.ts';
import { startServer } from '../support/scripted-server.ts';

function stream(text: string, ends = false) {
  return {
    'GET /sse': {
      raw: (response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text);
        if (ends) response.end();
      },
    },
  };
}

describe('an event stream', () => {
  it('that names a URL of another origin to post to is refused (B2-02)', async () => {
    const other = await startServer();
    const server = await startServer(stream(`event: endpoint\ndata: ${other.origin}/messages\n\n`));
    const transport = new EventStreamTransport({ url: `${server.origin}/sse`, fetch: globalThis.fetch });
    await expect(transport.start()).rejects.toThrow('origin');
    expect(other.requests).toEqual([]);
  });

  it('that never names one is given up (T-189)', async () => {
    const server = await startServer(stream(': hello\n\n'));
    const transport = new EventStreamTransport({
      url: `${server.origin}/sse`,
      fetch: globalThis.fetch,
      patienceMs: 100,
    });
    await expect(transport.start()).rejects.toMatchObject({ reason: 'timed_out' });
  });

  it('that cannot be opened says why', async () => {
    const transport = new EventStreamTransport({
      url: 'http://127.0.0.1/sse',
      fetch: () => Promise.reject(new Error('a login is needed')),
    });
    await expect(transport.start()).rejects.toThrow('a login is needed');
  });

  it('that ends closes the transport: its session went with it', async () => {
    const server = await startServer(
      stream('retry: 10\nevent: endpoint\ndata: /messages?sessionId=1\n\n', true),
    );
    const transport = new EventStreamTransport({ url: `${server.origin}/sse`, fetch: globalThis.fetch });
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve;
    });
    await transport.start();
    await closed;
    expect(server.asked()).toEqual(['GET /sse']);
  });
});
