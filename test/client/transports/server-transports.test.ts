import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServerTransport } from '../../../src/client/index.ts';
import { startServer } from '../support/scripted-server.ts';

describe('a transport to a URL', () => {
  it('streams each request of its own over streamable HTTP alone, so that closing one cancels it (B5-14)', () => {
    const options = { url: 'http://127.0.0.1/mcp', fetch: globalThis.fetch };
    const streams = (['http', 'sse', 'rest'] as const).map(
      (kind) => createServerTransport(kind, options).hasPerRequestStream,
    );
    expect(streams).toEqual([true, false, false]);
  });

  it.each([
    ['0', 6],
    ['3000000000', 1],
  ])(
    'opens an event stream again no sooner than in a tenth of a second, where its server says retry: %s (T-189)',
    async (retry, most) => {
      const note = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
      const stream = {
        headers: { 'content-type': 'text/event-stream' },
        text: `retry: ${retry}\nid: 1\ndata: ${note}\n\n`,
      };
      const server = await startServer({ 'GET /mcp': stream, 'POST /mcp': { status: 202, text: '' } });
      const options = { url: `${server.origin}/mcp`, fetch: globalThis.fetch };
      const transport = createServerTransport('http', options);
      onTestFinished(() => transport.close());
      await transport.start();
      await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      await pause(500);
      const opened = server.requests.filter(({ method }) => method === 'GET').length;
      expect(opened).toBeGreaterThan(0);
      expect(opened).toBeLessThanOrEqual(most);
    },
  );

  it('of Rest is refused without TLS but on loopback', () => {
    const options = { url: 'http://mcp.example.com/rest', fetch: globalThis.fetch };
    expect(() => createServerTransport('rest', options)).toThrow('use https');
  });
});
