import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  createBoundedWarnings,
  describeFull,
} from '../../../../src/gateway/backends/remote/remote-backend.ts';
import { backendAt, begin, begins, json, open, params, serve } from '../stdio/support/talk.ts';

const eventStream = { 'content-type': 'text/event-stream' };
const event = (message: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

describe('a server by URL', () => {
  it('is told that we are initialized before it is asked anything else', async () => {
    const order: string[] = [];
    const { url } = await serve((asked, response) => {
      const { method = '' } = asked.body;
      if (method === 'notifications/initialized')
        setTimeout(() => {
          order.push(method);
          response.writeHead(202).end();
        }, 60);
      else if (asked.method === 'GET') response.writeHead(405).end();
      else if (!begins(asked, response)) {
        order.push(method);
        json(response, { id: asked.body.id, result: {} });
      }
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    await Promise.all([talk.ask('tools/list'), talk.ask('ping')]);
    expect(order[0]).toBe('notifications/initialized');
    expect(order).toHaveLength(3);
  });

  it.each([
    [{ headers: { 'X-Key': 'a', 'x-key': 'b' } }, 'x-key'],
    [{ headers: { 'x-who': 'fixed' }, caller: { headers: { 'X-Who': 'email' } } }, 'x-who'],
    [{ headers: { 'x-gatehouse-assertion': 'fixed' }, caller: { assertion: true } }, 'x-gatehouse-assertion'],
    [{ caller: { headers: { 'X-Gatehouse-Omitted': 'email' } } }, 'x-gatehouse-omitted'],
  ] as const)('is refused if a header is set twice: %j', (options, header) => {
    expect(() => backendAt({ url: 'https://b.example/mcp', ...options })).toThrow(
      `The header ${header} is set twice`,
    );
  });

  it('that cannot be reached stands in the log with the code of the system', async () => {
    const lines: string[] = [];
    const url = 'http://127.0.0.1:1/mcp';
    const talk = await open(backendAt({ url, transport: 'http' }, undefined, (line) => lines.push(line)));
    await talk.ask('initialize', params);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      reason: 'backend_unreachable',
      errorCode: 'ECONNREFUSED',
      origin: 'http://127.0.0.1:1',
      address: '127.0.0.1:1',
    });
  });

  it.each(['http', 'sse'] as const)(
    'that points elsewhere stands in the log with where to, and nothing that may be secret (%s, T-194)',
    async (transport) => {
      const lines: string[] = [];
      const { origin, url } = await serve((_asked, response) => {
        response.writeHead(307, { location: 'https://login.example/in?state=secret#token' }).end();
      });
      const log = (line: string): void => void lines.push(line);
      const talk = await open(backendAt({ url: `${url}?key=secret`, transport }, undefined, log));
      await talk.ask('initialize', params);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        reason: 'backend_redirected',
        origin,
        location: 'https://login.example/…',
      });
      expect(lines.join('')).not.toMatch(/secret|token/);
    },
  );

  it('of events that names another origin for messages stands in the log with where to', async () => {
    const lines: string[] = [];
    const { url } = await serve((_asked, response) => {
      response.writeHead(200, eventStream).write('event: endpoint\ndata: http://127.0.0.1:1/in?s=secret\n\n');
    });
    const backend = backendAt({ url, transport: 'sse' }, undefined, (line) => lines.push(line));
    await (await open(backend)).ask('initialize', params);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ location: 'http://127.0.0.1:1/…' });
    expect(lines.join('')).not.toContain('secret');
  });

  it('is asked nothing before its own stream is open, as it drops what it would say there; but not for long', async () => {
    for (const isShown of [true, false]) {
      const order: string[] = [];
      const { url } = await serve((asked, response) => {
        if (asked.method === 'GET')
          setTimeout(() => {
            order.push('stream');
            if (isShown) response.writeHead(200, eventStream).flushHeaders();
          }, 60);
        else if (!begins(asked, response)) {
          order.push('request');
          json(response, { id: asked.body.id, result: {} });
        }
      });
      const talk = await begin(backendAt({ url, transport: 'http' }));
      await talk.ask('tools/list');
      expect(order).toEqual(['stream', 'request']);
    }
  });

  it('says to which request what it says belongs, and several messages at once (B3-05, B3-15)', async () => {
    const { url } = await serve((asked, response) => {
      if (asked.method === 'GET') response.writeHead(405).end();
      else if (!begins(asked, response)) {
        response.writeHead(200, eventStream);
        const { id } = asked.body;
        const note = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: id } };
        response.end(`data: ${JSON.stringify([note, note])}\n\n${event({ id, result: { of: id } })}`);
      }
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    const [one, two] = await Promise.all([talk.ask('tools/call'), talk.ask('tools/call')]);
    expect([one?.result, two?.result]).toEqual([{ of: 2 }, { of: 3 }]);
    for (const { message, relatedTo } of talk.heard) expect(relatedTo).toBe(message.params?.data);
    expect(talk.heard).toHaveLength(4);
  });

  it('may close a stream and have it opened again behind its last event, not before it said (B3-09, B4-03)', async () => {
    let closedAt = 0;
    let waitedMs = 0;
    const { url, asked } = await serve((request, response) => {
      const { method, headers, body } = request;
      if (method === 'GET' && headers['last-event-id'] === 'a-1') {
        waitedMs = performance.now() - closedAt;
        response.writeHead(200, eventStream).end(event({ id: 2, result: { resumed: true } }, 'a-2'));
      } else if (method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response, 's')) {
        response.writeHead(200, eventStream);
        response.end(
          `retry: 300\n\n${event({ method: 'notifications/message', params: { id: body.id } }, 'a-1')}`,
        );
        closedAt = performance.now();
      }
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call')).result).toEqual({ resumed: true });
    expect(waitedMs).toBeGreaterThanOrEqual(290);
    const resuming = asked.find(({ headers }) => headers['last-event-id'] !== undefined);
    expect(resuming?.headers).toMatchObject({ 'mcp-session-id': 's', 'mcp-protocol-version': '2025-11-25' });
  });

  it.each(['http', 'sse'] as const)(
    'whose answer over a stream cannot be read says so to who asked, at once, and goes on (%s)',
    async (transport) => {
      const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
      const streams: ServerResponse[] = [];
      const { url } = await serve(({ method, body }, response) => {
        const { id } = body;
        const says = {
          'tools/call': `data: {"result":{"id":"inner","a":${deep}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n\n`,
          'prompts/get': `id: 1\ndata: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":"\\ud800"}\n\n`,
          'tools/list': event({ id, result: { tools: [] } }),
          initialize: event({
            id,
            result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'a' } },
          }),
        }[String(body.method)];
        if (method === 'GET' && transport === 'sse') {
          streams.push(response);
          response.writeHead(200, eventStream).write('event: endpoint\ndata: /messages\n\n');
        } else if (method === 'GET') response.writeHead(405).end();
        else if (says === undefined) response.writeHead(202).end();
        else if (transport === 'sse') {
          response.writeHead(202).end();
          streams.at(-1)?.write(says);
        } else response.writeHead(200, eventStream).write(says);
      });
      const talk = await begin(backendAt({ url, transport }));
      const [large, broken, whole] = await Promise.all(
        ['tools/call', 'prompts/get', 'tools/list'].map((method) => talk.ask(method)),
      );
      expect(large?.error).toMatchObject({ data: { reason: 'backend_answer_too_large' } });
      expect(broken?.error).toMatchObject({ data: { reason: 'backend_answer_unreadable' } });
      expect(whole?.result).toEqual({ tools: [] });
    },
  );

  it('that wants its streams opened again at once, for ever, is left alone in between (T-156)', async () => {
    let opened = 0;
    const said = `retry: 0\n${event({ method: 'notifications/message', params: {} }, '1')}`;
    const { url } = await serve((request, response) => {
      if (request.method === 'GET') opened++;
      if (begins(request, response, 's')) return;
      response.writeHead(200, eventStream).end(said);
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    void talk.ask('tools/call');
    await pause(1000);
    // Two streams: that of the session, and that of the call.
    expect(opened).toBeGreaterThan(2);
    expect(opened).toBeLessThanOrEqual(22);
  });

  it('keeps quiet for as long as it likes: connections in use do not end for that (src/gateway/backends/remote/wire.ts)', async () => {
    const { url, asked } = await serve((request, response) => {
      if (request.method === 'GET') response.writeHead(200, eventStream).flushHeaders();
      else if (!begins(request, response, 's'))
        setTimeout(() => json(response, { id: request.body.id, result: { late: true } }), 5500);
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call')).result).toEqual({ late: true });
    expect(asked.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  it('that keeps breaking a stream is given up after three times without anything new (T-157)', async () => {
    const { url, asked } = await serve((request, response) => {
      if (request.method === 'GET' && request.headers['last-event-id'] === undefined)
        response.writeHead(405).end();
      else if (request.method === 'GET') response.writeHead(200, eventStream).end();
      else if (!begins(request, response, 's'))
        response.writeHead(200, eventStream).end(`retry: 10\nid: 1\ndata:\n\n`);
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_ended');
    expect(asked.filter(({ headers }) => headers['last-event-id'] === '1')).toHaveLength(3);
  });

  it('that forgets every session is asked twice for one request, not for ever (B3-11)', async () => {
    let sessions = 0;
    const { url, asked } = await serve((request, response) => {
      if (request.method === 'GET') response.writeHead(405).end();
      else if (request.body.method === 'initialize') begins(request, response, `s-${++sessions}`);
      else if (!begins(request, response)) response.writeHead(404).end();
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_session_lost');
    expect(asked.filter(({ body }) => body.method === 'tools/call')).toHaveLength(2);
    expect(sessions).toBe(2);
  });

  it.each([
    [404, 'gone'],
    [410, 'gone'],
    [503, 'gone'],
    [400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"No valid session ID provided"},"id":null}'],
    [404, '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":ID}'],
  ])(
    'that ends a session with %i (%s) is asked the same in another one (FA-48, B3-11)',
    async (status, text) => {
      const sessions: string[] = [];
      const { url } = await serve((request, response) => {
        const { headers, body } = request;
        const session = headers['mcp-session-id'] as string | undefined;
        if (session !== undefined && !sessions.includes(session))
          response.writeHead(status).end(text.replace('ID', JSON.stringify(body.id)));
        else if (request.method === 'GET') response.writeHead(405).end();
        else if (body.method === 'initialize') {
          sessions.push(`s-${Math.random()}`);
          begins(request, response, sessions.at(-1));
        } else if (!begins(request, response)) json(response, { id: body.id, result: { content: [] } });
      });
      const talk = await begin(backendAt({ url, transport: 'http' }));
      expect((await talk.ask('tools/call')).result).toEqual({ content: [] });
      sessions.length = 0;
      const both = await Promise.all([talk.ask('tools/call'), talk.ask('tools/call')]);
      expect(both.map(({ result }) => result)).toEqual([{ content: [] }, { content: [] }]);
      expect(sessions).toHaveLength(1);
    },
  );

  it('that has too much to do (503) keeps its session, whether it answers pings or nothing at all (FA-48)', async () => {
    let refused: RegExp | undefined;
    const { url, asked } = await serve((request, response) => {
      const { body } = request;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (refused?.test(String(body.method))) response.writeHead(503).end();
      else if (!begins(request, response, 'only')) json(response, { id: body.id, result: {} });
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    refused = /tools\/call/;
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_overloaded');
    expect(asked.filter(({ body }) => body.method === 'initialize')).toHaveLength(1);
    refused = /./;
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_overloaded');
    refused = undefined;
    expect((await talk.ask('tools/call')).result).toEqual({});
    expect(asked.at(-1)?.headers['mcp-session-id']).toBe('only');
  });

  it('that never answers notifications/initialized keeps no call waiting, nor a connection (FA-48)', async () => {
    const { url } = await serve((request, response) => {
      const { body } = request;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (body.method?.startsWith('notifications/')) return;
      else if (!begins(request, response)) json(response, { id: body.id, result: {} });
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    const sinceMs = performance.now();
    expect((await talk.ask('tools/call')).result).toEqual({});
    talk.tell({ method: 'notifications/roots/list_changed' });
    expect((await talk.ask('tools/call')).result).toEqual({});
    expect(performance.now() - sinceMs).toBeLessThan(5_000);
  });

  it('may answer with as many values as its setting says, and tell of a change with params: [] (FA-48)', async () => {
    const { url } = await serve((request, response) => {
      const { body } = request;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response)) {
        response.writeHead(200, eventStream);
        const said = { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: [] };
        const answer = { jsonrpc: '2.0', id: body.id, result: { list: Array(body.params?.length).fill(1) } };
        for (const message of [said, answer]) response.write(`data: ${JSON.stringify(message)}\n\n`);
        response.end();
      }
    });
    const small = await begin(backendAt({ url, transport: 'http', maxAnswerValues: 2_000 }));
    expect((await small.ask('tools/call', { length: 3_000 })).error?.data?.reason).toBe(
      'backend_answer_too_large',
    );
    const large = await begin(backendAt({ url, transport: 'http', maxAnswerValues: 300_000 }));
    expect((await large.ask('tools/call', { length: 260_000 })).error).toBeUndefined();
    expect(large.heard.map(({ message }) => message.method)).toEqual(['notifications/tools/list_changed']);
  });

  it('that hangs is noticed by pings, and its session is begun anew when it is back (FA-39)', async () => {
    let hangs = false;
    const pings: unknown[] = [];
    const { url, asked } = await serve((request, response) => {
      const { body } = request;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (hangs && body.method !== 'initialize') return;
      else if (body.method === 'ping') {
        pings.push(body.id);
        json(response, { id: body.id, error: { code: -32601, message: 'no' } });
      } else if (!begins(request, response, 's')) json(response, { id: body.id, result: {} });
    });
    const backend = backendAt({ url, transport: 'http', pingSeconds: 0.5 });
    const talk = await begin(backend);
    await vi.waitUntil(() => pings.length > 2, { timeout: 30_000 });
    expect(backend.status().failures.count).toBe(0);
    hangs = true;
    await vi.waitUntil(() => backend.status().failures.count > 0, { timeout: 30_000 });
    expect(backend.status().failures.last?.reason).toBe('backend_unresponsive');
    hangs = false;
    expect((await talk.ask('tools/call')).result).toEqual({});
    expect(asked.filter(({ body }) => body.method === 'initialize')).toHaveLength(2);
  });

  it('that keeps no session is not pinged, nor one whose setting says never (FA-39)', async () => {
    const { url, asked } = await serve((request, response) => {
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response, request.url === '/s' ? 's' : undefined))
        json(response, { id: request.body.id, result: {} });
    });
    const talks = [
      await begin(backendAt({ url, transport: 'http', pingSeconds: 0.05 })),
      await begin(backendAt({ url: new URL('/s', url).href, transport: 'http', pingSeconds: 0 })),
    ];
    await pause(500);
    for (const talk of talks) expect((await talk.ask('tools/call')).result).toEqual({});
    expect(asked.filter(({ body }) => body.method === 'ping')).toEqual([]);
  });

  it('that never takes the response to its own request keeps no call waiting (FA-48)', async () => {
    const { url } = await serve((request, response) => {
      const { body } = request;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (body.method === undefined) return;
      else if (!begins(request, response)) json(response, { id: body.id, result: {} });
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    talk.tell({ id: 'asked', result: {} });
    expect((await talk.ask('tools/call')).result).toEqual({});
  });

  it('gets a request again that has no effect, where a kept connection was closed; never a tool call', async () => {
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      const { method = '', id } = request.body;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response)) {
        seen.push(method);
        const isFirst = seen.filter((one) => one === method).length === 1;
        if (isFirst && method !== 'ping') response.socket?.destroy();
        else json(response, { id, result: {} });
      }
    });
    const talk = await begin(backendAt({ url, transport: 'http' }));
    await talk.ask('ping');
    expect((await talk.ask('tools/list')).result).toEqual({});
    await talk.ask('ping');
    expect((await talk.ask('tools/call')).error?.data?.reason).toBe('backend_ended');
    expect(seen.filter((one) => one === 'tools/list')).toHaveLength(2);
    expect(seen.filter((one) => one === 'tools/call')).toHaveLength(1);
  });

  it('that forgets a session and does not begin another keeps nobody waiting twice, and is asked again in a while', async () => {
    let isSilent = false;
    const { url, asked } = await serve((request, response) => {
      const { body } = request;
      if (request.method === 'GET') response.writeHead(405).end();
      else if (isSilent && body.method !== 'initialize') response.writeHead(404).end();
      else if (!isSilent && !begins(request, response, 's')) json(response, { id: body.id, result: {} });
    });
    const talk = await begin(backendAt({ url, transport: 'http', startMs: 600 }));
    expect((await talk.ask('ping')).result).toEqual({});
    isSilent = true;
    expect((await talk.ask('tools/list')).error?.data?.reason).toBe('backend_start_timed_out');
    const sinceMs = performance.now();
    expect((await talk.ask('tools/list')).error?.data).toEqual({
      reason: 'backend_restarting',
      failure: 'backend_start_timed_out',
      retryAfterSeconds: expect.any(Number),
    });
    expect(performance.now() - sinceMs).toBeLessThan(400);
    expect(asked.filter(({ body }) => body.method === 'initialize')).toHaveLength(2);
  });

  it('has one time for all that is tried to begin with it', async () => {
    const { url } = await serve((request, response) => {
      // Not of this transport, which it says late; and of the other one, by which it says nothing.
      if (request.method === 'POST') setTimeout(() => response.writeHead(404).end(), 400);
      else response.writeHead(200, eventStream).flushHeaders();
    });
    const talk = await open(backendAt({ url, startMs: 600 }));
    const sinceMs = performance.now();
    expect((await talk.ask('initialize', params)).error?.data?.reason).toBe('backend_start_timed_out');
    expect(performance.now() - sinceMs).toBeLessThan(900);
  });

  it('has a bounded number of calls of an account; others go on (T-158)', async () => {
    const { url } = await serve((request, response) => {
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response) && request.body.method === 'ping')
        json(response, { id: request.body.id, result: {} });
    });
    // Ten for calls, of which an account has two; ten more may wait.
    const log: string[] = [];
    const backend = backendAt({ url, transport: 'http', maxConnections: 20 }, undefined, (line) =>
      log.push(line),
    );
    const [ada, grace] = [await begin(backend), await begin(backend, 'grace')];
    await pause(50);
    const waiting = Array.from({ length: 12 }, () => ada.ask('tools/call'));
    const { error } = await ada.ask('tools/call');
    expect(error).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/too many calls of your account under way/),
      data: { reason: 'backend_busy' },
    });
    expect(JSON.stringify(error)).not.toMatch(/maxConnections|\b(?:2|10|20)\b/);
    expect(log.join()).toContain('2 calls under way and 10 that wait: raise maxConnections of the backend');
    expect(backend.status().connections).toBe(2);
    expect((await grace.ask('ping')).result).toEqual({});
    // What is cancelled makes room.
    for (let id = 2; id <= 13; id++)
      ada.tell({ method: 'notifications/cancelled', params: { requestId: id } });
    expect((await ada.ask('ping')).result).toEqual({});
    expect(waiting).toHaveLength(12);
  });

  it('that says thirty thousand things unasked is heard in part, keeps nobody waiting and is answered (T-156)', async () => {
    const note = event({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
    const { url } = await serve((request, response) => {
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response) && request.body.method === 'ping')
        json(response, { id: request.body.id, result: {} });
      else if (request.body.method === 'tools/call') {
        response.writeHead(200, eventStream);
        for (let part = 0; part < 30; part++) response.write(note.repeat(1000));
        response.end(event({ id: request.body.id, result: { done: true } }));
      }
    });
    const backend = backendAt({ url, transport: 'http' });
    const [ada, grace] = [await begin(backend), await begin(backend, 'grace')];
    const call = ada.ask('tools/call');
    const begun = performance.now();
    for (let count = 0; count < 20; count++) {
      expect((await grace.ask('ping')).result).toEqual({});
      await pause(10);
    }
    expect(performance.now() - begun).toBeLessThan(2000);
    expect((await call).result).toEqual({ done: true });
    // A thousand a second, over the three seconds it takes to read them.
    expect(ada.heard.length).toBeGreaterThanOrEqual(1000);
    expect(ada.heard.length).toBeLessThanOrEqual(6000);
  });

  it('tells how it stands', async () => {
    let isWell = false;
    const { url } = await serve((request, response) => {
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!isWell) response.writeHead(502).end();
      else if (!begins(request, response)) json(response, { id: request.body.id, result: {} });
    });
    const backend = backendAt({ url, transport: 'http' });
    expect(backend.status()).toEqual({ kind: 'http', state: 'idle', connections: 0, failures: { count: 0 } });
    const talk = await open(backend);
    expect((await talk.ask('initialize', params)).error?.data?.reason).toBe('backend_failed');
    expect(backend.status()).toMatchObject({
      state: 'failing',
      failures: { last: { reason: 'backend_failed' } },
    });
    await talk.close();
    isWell = true;
    await begin(backend);
    expect(backend.status()).toMatchObject({ kind: 'http', state: 'running' });
  });
});

describe('warnings', () => {
  it('warnings of one backend are bounded; what was left out is counted (T-156)', () => {
    const lines: Record<string, unknown>[] = [];
    let nowMs = 0;
    const warn = createBoundedWarnings(
      'There',
      { warn: (line: object) => void lines.push({ ...line }) },
      () => nowMs,
    );
    for (let count = 0; count < 500; count++) warn({ reason: 'r' }, 'it failed');
    expect(lines).toHaveLength(50);
    nowMs = 10_000;
    warn({ reason: 'r' }, 'it failed');
    warn({ reason: 'r' }, 'it failed');
    expect(lines.slice(50)).toEqual([
      { backend: 'There', reason: 'r', droppedLines: 450 },
      { backend: 'There', reason: 'r' },
    ]);
  });
});

describe('full limits', () => {
  it('a limit that is full is told with the setting that raises it, where one does', () => {
    const limits = { maxConnections: 20, total: 10, perAccount: 2, maxHeld: 100 };
    expect(describeFull('calls', limits)).toBe(
      'an account may have 2 calls under way and 10 that wait: raise maxConnections of the backend, which is 20',
    );
    expect(describeFull('streams', limits)).toMatch(/2 streams open, all together 10: raise maxConnections/);
    expect(describeFull('session_start', limits)).toMatch(/^100 messages .* no setting changes/);
  });
});
