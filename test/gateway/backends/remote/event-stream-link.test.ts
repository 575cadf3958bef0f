import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { backendAt, open, params, serve } from '../stdio/support/talk.ts';

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

  it('cannot have messages posted to another origin, and that is what its caller hears (FA-48, B2-02, T-157)', async () => {
    const trap = await serve((_request, response) => void response.end());
    const { url, asked } = await serveStream(() => `${trap.origin}/messages`);
    const talk = await open(backendAt({ url, transport: 'sse' }));
    expect((await talk.ask('initialize', params)).error?.data?.reason).toBe('backend_endpoint_elsewhere');
    expect(trap.asked).toEqual([]);
    expect(asked.map(({ method }) => method)).toEqual(['GET']);
  });

  it('that never answers initialize is given up, and its stream is closed (T-157)', async () => {
    const { url } = await serveStream(() => '/messages?s=1');
    const backend = backendAt({ url, transport: 'sse', startMs: 150 });
    const talk = await open(backend);
    expect((await talk.ask('initialize', params)).error?.data?.reason).toBe('backend_start_timed_out');
    expect(backend.status().connections).toBe(0);
  });

  it('is not left with a message it has not taken when its stream ends (T-157, T-158)', async () => {
    let stream: ServerResponse | undefined;
    let isCut = false;
    const { url } = await serve(({ method, body }, response) => {
      if (method === 'GET') {
        stream = response;
        response.writeHead(200, eventStream);
        response.write('event: endpoint\ndata: /messages\n\n');
      } else if (body.method === 'tools/call') {
        response.on('close', () => {
          isCut = !response.writableEnded;
        });
        stream?.end();
      } else {
        response.writeHead(202).end();
        const result = {
          protocolVersion: '2024-11-05',
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        };
        if (body.method === 'initialize')
          stream?.write(
            `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: body.id, result })}\n\n`,
          );
      }
    });
    const talk = await open(backendAt({ url, transport: 'sse' }));
    expect((await talk.ask('initialize', params)).error).toBeUndefined();
    talk.tell({ method: 'notifications/initialized' });
    const { error } = await talk.ask('tools/call', { name: 'slow', arguments: {} });
    expect(error?.data?.reason).toBe('backend_ended');
    await expect.poll(() => isCut).toBe(true);
  });
});
