import { describe, expect, it, vi } from 'vitest';
import type { Posted } from '../../../src/mcp/http/exchange.ts';
import { createCallLimit } from '../../../src/mcp/http/limits.ts';
import { isRefusal } from '../../../src/mcp/http/refusal.ts';
import { createSseTransport } from '../../../src/mcp/legacy/sse.ts';
import type { McpLike, Message } from '../../../src/mcp/protocol.ts';
import { readMessages } from '../../../src/mcp/reading/messages.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type SseEndpointOptions, startSseEndpoint } from '../support/sse-endpoint.ts';
import { createPatientServer } from '../support/sse-server.ts';
import { openStream } from '../support/sse-stream.ts';

const start = (options?: SseEndpointOptions) => startSseEndpoint(createPatientServer().factory, options);

const call = (id: string | number, name: string, args: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('the stream of HTTP+SSE', () => {
  it('names the address to post to first, as the path of the public URL with 256 random bits (B2-01)', async () => {
    const endpoint = await start({ publicPath: '/behind/proxy' });
    const { response, postUrl, text } = await openStream(endpoint);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const id = postUrl.searchParams.get('sessionId') ?? '';
    expect(Buffer.from(id, 'base64url')).toHaveLength(32);
    expect(text()).toBe(`: open\n\nevent: endpoint\ndata: /behind/proxy/messages?sessionId=${id}\n\n`);
    const other = await openStream(endpoint);
    expect(other.postUrl.href).not.toBe(postUrl.href);
  });

  it('is kept alive by comments (B2-04)', async () => {
    const { text, next } = await openStream(await start({ keepAliveMs: 40 }));
    void next();
    await vi.waitFor(() => expect(text().match(/^: keep-alive$/gm)?.length).toBeGreaterThan(1));
  });

  it('is refused over the cap, and counts no longer when it ends (T-144)', async () => {
    const endpoint = await start({ maxStreams: 1 });
    const first = await openStream(endpoint);
    expect((await openStream(endpoint)).response.status).toBe(429);
    first.leave();
    await vi.waitFor(() => expect(endpoint.open).toHaveLength(0));
    expect((await openStream(endpoint)).response.status).toBe(200);
  });

  it('ends when the transport closes, and is refused from then on', async () => {
    const endpoint = await start();
    const stream = await openStream(endpoint);
    await endpoint.close();
    expect(await stream.next()).toBeUndefined();
    const later = await openStream(endpoint);
    expect(later.response.status).toBe(503);
    expect(later.response.headers.get('retry-after')).toBe('5');
  });
});

describe('a message posted to a stream of HTTP+SSE', () => {
  it('is accepted with 202 and answered on the stream as one event, whatever its text (B2-02, B2-03, T-139)', async () => {
    const stream = await openStream(await start());
    expect(await stream.initialize()).toMatchObject({ protocolVersion: '2024-11-05' });
    const text = 'one\n\nevent: endpoint\ndata: /evil\r\n\u2028id: 7';
    const accepted = await stream.post(call(1, 'echo', { text }));
    expect(accepted.status).toBe(202);
    expect(await accepted.text()).toBe('');
    expect(await stream.message()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text }] },
    });
    expect(stream.text().match(/^event: /gm)).toHaveLength(3);
  });

  it('has no answer on the stream when it is a notification (B2-03)', async () => {
    const stream = await openStream(await start());
    await stream.initialize();
    expect((await stream.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })).status).toBe(
      202,
    );
    await stream.post({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await stream.message()).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
  });

  it('belongs to the principal that opened the stream; to others there is none (B2-06, T-125)', async () => {
    const endpoint = await start();
    const stream = await openStream(endpoint);
    await stream.initialize();
    const foreign = await stream.post(call(1, 'echo', { text: 'mine' }), 'bob');
    expect(foreign.status).toBe(404);
    const unknown = new URL(stream.postUrl);
    unknown.searchParams.set('sessionId', 'x'.repeat(43));
    const bare = new URL(stream.postUrl.pathname, stream.postUrl);
    for (const url of [unknown, bare]) {
      const body = JSON.stringify(call(1, 'echo'));
      const answer = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer ann' }, body });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toEqual(await foreign.clone().json());
    }
    await stream.post(call(2, 'echo', { text: 'own' }));
    expect(await stream.message()).toMatchObject({ id: 2 });
  });

  it.each([
    '{',
    '"text"',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
  ])('is refused with 400 when it is no message: %s (B2-03)', async (body) => {
    const stream = await openStream(await start());
    expect((await stream.post(body)).status).toBe(400);
  });

  it('is refused with 403 and all scopes it needs, when the token lacks them (T-102)', async () => {
    const stream = await openStream(await start({ rules: { tools: { echo: ['notes:write'] } } }));
    await stream.initialize();
    const refused = await stream.post(call(1, 'echo', { text: 'x' }));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="notes:write"');
  });

  it('does not reach a tool with its credentials (T-105)', async () => {
    const stream = await openStream(await start());
    await stream.initialize();
    await stream.post(call(1, 'look'));
    const seen = JSON.stringify(await stream.message());
    expect(seen).toContain('for ann at /messages');
    expect(seen.toLowerCase()).not.toContain('bearer');
  });

  it.each(['each', 'shared'] as const)(
    'is answered to its sender alone, when 50 principals use the same ids (T-127; servers: %s)',
    async (sharing) => {
      const endpoint = await start({ sharing, maxStreams: 50 });
      const principals = Array.from({ length: 50 }, (_, at) => `principal-${at}`);
      const streams = await Promise.all(principals.map((principal) => openStream(endpoint, principal)));
      await Promise.all(streams.map((stream) => stream.initialize()));
      const ids = Array.from({ length: 20 }, (_, id) => id);
      await Promise.all(
        streams.flatMap((stream, at) =>
          ids.map((id) => stream.post(call(id, 'echo', { text: `${principals[at]} ${id}` }))),
        ),
      );
      for (const [at, stream] of streams.entries()) {
        const answers: Record<string, unknown>[] = [];
        for (const _ of ids) answers.push(await stream.message());
        expect(new Set(answers.map(({ id }) => id)).size).toBe(ids.length);
        for (const { id, result } of answers)
          expect(result).toEqual({ content: [{ type: 'text', text: `${principals[at]} ${id}` }] });
      }
    },
  );
});

describe('a message that is posted while the server begins', () => {
  it('reaches no server whose own rules were not asked, however close the two come (FA-01, T-102)', async () => {
    const server: McpLike = { connect: async () => undefined, close: async () => undefined };
    const authInfo = { subject: 'ann', clientId: 'client-1', expiresAt: 4_000_000_000 } as AuthInfo;
    const posted = (message: object): Posted => {
      const messages = readMessages(message);
      if (isRefusal(messages)) throw new Error(messages.reason);
      return { value: message, messages };
    };
    const initialize = {
      ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
      params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    };
    for (let ticks = 0; ticks < 12; ticks++) {
      const judgedBy: unknown[] = [];
      const said: Message[] = [];
      let query = '';
      const begun = Promise.withResolvers<void>();
      const conversation = {
        server,
        say: (message: Message) => void said.push(message),
        end: async () => {},
      };
      const result = {
        protocolVersion: '2024-11-05',
        capabilities: {},
        serverInfo: initialize.params.clientInfo,
      };
      const transport = createSseTransport({
        conversations: {
          open: () => begun.promise.then(() => ({ conversation, result })),
          close: async () => {},
        },
        gate: {
          async check(_messages, _caller, by) {
            judgedBy.push(by);
            return undefined;
          },
        },
        accessWatch: { watch: () => () => undefined } as never,
        streams: { begin: () => undefined, end: () => undefined },
        calls: createCallLimit(10),
        postUrl: new URL('https://a.example/messages'),
        logger: createLogger('silent', () => undefined),
      });
      const stream = {
        send(data: string) {
          if (data.includes('?')) query = data.slice(data.indexOf('?') + 1);
        },
        end() {},
        onClose() {},
      };
      const reply = { stream: () => stream, empty: () => undefined } as never;
      const exchange = () => ({ authInfo, query, reply }) as never;
      await transport.open(exchange());
      await transport.post(exchange(), posted(initialize));
      begun.resolve();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      await transport.post(exchange(), posted(call(1, 'echo')));
      expect(said.length === 0 || judgedBy.at(-1) === server, `after ${ticks} ticks`).toBe(true);
      await transport.close();
    }
  });
});
