import { describe, expect, it } from 'vitest';
import { backendAt, open, params, serve } from '../support/talk.ts';

const eventStream = { 'content-type': 'text/event-stream' };

describe('a server over HTTP+SSE', () => {
  const serveStream = (endpoint: (origin: string) => string) => {
    let origin = '';
    const served = serve((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, eventStream);
        response.write(`event: endpoint\ndata: ${endpoint(origin)}\n\n`);
      } else response.writeHead(202).end();
    });
    return served.then((one) => {
      origin = one.origin;
      return one;
    });
  };

  it('cannot have messages posted to another origin (B2-02, T-157)', async () => {
    const trap = await serve((_request, response) => void response.end());
    const { url, asked } = await serveStream(() => `${trap.origin}/messages`);
    const talk = await open(backendAt({ url, transport: 'sse' }));
    expect((await talk.ask('initialize', params)).error?.data?.reason).toBe('backend_redirected');
    expect(trap.asked).toEqual([]);
    expect(asked.map(({ method }) => method)).toEqual(['GET']);
  });

  it('that never answers initialize is given up, and its stream is closed', async () => {
    const { url } = await serveStream(() => '/messages?s=1');
    const backend = backendAt({ url, transport: 'sse', startMs: 150 });
    const talk = await open(backend);
    expect((await talk.ask('initialize', params)).error?.data?.reason).toBe('backend_start_timed_out');
    expect(backend.status().connections).toBe(0);
  });
});
