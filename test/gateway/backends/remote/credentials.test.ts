import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CredentialSource, Credentials } from '../../../../src/gateway/credentials/credentials.ts';
import { backendAt, begin, begins, callerOf, json, open, params, serve } from '../stdio/support/talk.ts';

const eventStream = { 'content-type': 'text/event-stream' };
const event = (message: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

describe('credentials of a caller', () => {
  const source = (of: Record<string, () => Credentials | { error: { code: number; message: string } }>) => {
    const listeners = new Set<Parameters<CredentialSource['onChange']>[0]>();
    const credentials: CredentialSource = {
      find: async ({ subject }) => of[subject]?.() ?? {},
      onChange(tell) {
        listeners.add(tell);
        return () => listeners.delete(tell);
      },
    };
    const changed = (subject: string): void => {
      for (const tell of listeners) tell({ issuer: 'https://gate.example', subject });
    };
    return { credentials, changed };
  };
  const seen = async () => {
    const headers: string[] = [];
    const { url } = await serve((request, response) => {
      headers.push(`${request.method} ${request.headers['x-key'] ?? '-'} ${request.headers['x-fixed']}`);
      if (request.method === 'GET') response.writeHead(405).end();
      else if (!begins(request, response, 's')) json(response, { id: request.body.id, result: {} });
    });
    return { url, headers };
  };

  it('go with each of their requests, as they are at the time; nobody else’s do (T-158)', async () => {
    let count = 0;
    const { credentials } = source({
      ada: () => ({ headers: { 'x-key': `ada-${++count}`, host: 'evil.example' } }),
    });
    const { url, headers } = await seen();
    const backend = backendAt({ url, transport: 'http', headers: { 'x-fixed': 'f' } }, credentials);
    const [ada, grace] = [await begin(backend), await begin(backend, 'grace')];
    await ada.ask('ping');
    await ada.ask('ping');
    await grace.ask('ping');
    expect(headers.at(-1)).toBe('POST - f');
    const numbers = headers.flatMap((one) => one.match(/ada-(\d+)/)?.slice(1) ?? []).map(Number);
    expect(new Set(numbers).size).toBeGreaterThanOrEqual(4);
    expect(headers.every((one) => one.endsWith(' f'))).toBe(true);
  });

  it('about the sender of a message stay with it, also if it is sent again in a new session', async () => {
    let session = 'first';
    const taken = new Map<unknown, unknown>();
    const { url } = await serve((request, response) => {
      const { method, body, headers } = request;
      if (method !== 'POST') response.writeHead(405).end();
      else if (headers['mcp-session-id'] === 'first' && session !== 'first') response.writeHead(404).end();
      else if (!begins(request, response, session)) {
        taken.set(body.method, headers['x-grant']);
        json(response, { id: body.id, result: {} });
      }
    });
    const caller = { headers: { 'x-grant': 'grant_id' } } as const;
    const talk = await begin(backendAt({ url, transport: 'http', caller }));
    await talk.ask('ping');
    session = 'second';
    const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
    const asked = methods.map((method) =>
      talk.ask(method, {}, { ...callerOf('ada'), grantId: `of ${method}` }),
    );
    for (const { error } of await Promise.all(asked)) expect(error).toBeUndefined();
    for (const method of methods) expect([method, taken.get(method)]).toEqual([method, `of ${method}`]);
  });

  it('may be missing: the request is answered with just that error, and reaches nobody', async () => {
    const error = { code: -32000, message: 'Enter your key.' };
    let isMissing = false;
    const { credentials } = source({ ada: () => (isMissing ? { error } : { headers: { 'x-key': 'k' } }) });
    const { url, headers } = await seen();
    const talk = await begin(backendAt({ url, transport: 'http' }, credentials));
    await talk.ask('ping');
    isMissing = true;
    const before = headers.length;
    expect((await talk.ask('tools/list')).error).toBe(error);
    expect(headers).toHaveLength(before);
    const other = await open(backendAt({ url, transport: 'http' }, credentials));
    expect((await other.ask('initialize', params)).error).toBe(error);
  });

  it('that no header can hold fail the request, and nothing else', async () => {
    let key = 'good';
    const { credentials } = source({ ada: () => ({ headers: { 'x-key': key } }) });
    const { url } = await seen();
    const talk = await begin(backendAt({ url, transport: 'http' }, credentials));
    key = 'b\u{1f511}d\r\nx: y';
    expect((await talk.ask('ping')).error?.data?.reason).toBe('backend_refused');
    key = 'good again';
    expect((await talk.ask('ping')).result).toEqual({});
  });

  it('that change end the sessions begun with them, and no others', async () => {
    const { credentials, changed } = source({ ada: () => ({ headers: { 'x-key': 'k' } }) });
    const { url, headers } = await seen();
    const backend = backendAt({ url, transport: 'http' }, credentials);
    const [ada, grace] = [await begin(backend), await begin(backend, 'grace')];
    changed('ada');
    await expect.poll(() => ada.isClosed()).toBe(true);
    expect(grace.isClosed()).toBe(false);
    await expect.poll(() => headers).toContain('DELETE k undefined');
  });

  it.each(['http', 'sse', 'rest', 'auto'] as const)(
    'that change while a session begins over %s have it begin with the new ones, and nobody notices',
    async (transport) => {
      let key = 'old';
      const { credentials, changed } = source({ ada: () => ({ headers: { 'x-key': key } }) });
      const begun: string[] = [];
      const streams: ServerResponse[] = [];
      const { url } = await serve((request, response) => {
        const { 'x-key': given } = request.headers;
        if (request.method === 'GET' && transport === 'sse') {
          streams.push(response);
          response.writeHead(200, eventStream).write('event: endpoint\ndata: /messages\n\n');
        } else if (request.method === 'GET') response.writeHead(405).end();
        else if (request.body.method === 'initialize') {
          begun.push(String(given));
          if (given === 'old') return;
          if (transport !== 'sse') return void begins(request, response, 's');
          response.writeHead(202).end();
          const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'a' } };
          streams.at(-1)?.write(event({ id: request.body.id, result }));
        } else if (!begins(request, response)) json(response, { id: request.body.id, result: { given } });
      });
      const backend = backendAt({ url, transport }, credentials);
      const talk = await open(backend);
      const opening = talk.ask('initialize', params);
      await expect.poll(() => begun).toEqual(['old']);
      key = 'new';
      changed('ada');
      expect((await opening).result).toMatchObject({ serverInfo: { name: 'a' } });
      expect([begun, talk.isClosed()]).toEqual([['old', 'new'], false]);
      expect(backend.status().state).toBe('running');
    },
  );

  it('that change while they are read leave no session behind at the server that was begun with the old ones', async () => {
    let key = 'old';
    const { credentials, changed } = source({ ada: () => ({ headers: { 'x-key': key } }) });
    const { url, asked } = await serve((request, response) => {
      if (request.method !== 'POST') response.writeHead(405).end();
      else begins(request, response, `of ${request.headers['x-key']}`.replace(' ', '-'));
    });
    const find = credentials.find.bind(credentials);
    credentials.find = async (caller) => {
      const found = await find(caller);
      if (key === 'old') await pause(50);
      return found;
    };
    const talk = await open(backendAt({ url, transport: 'http' }, credentials));
    const opening = talk.ask('initialize', params);
    await pause(20);
    key = 'new';
    changed('ada');
    expect((await opening).error).toBeUndefined();
    const said = asked.map(({ method, headers }) => [method, headers['x-key'], headers['mcp-session-id']]);
    expect(said).toEqual([
      ['POST', 'old', undefined],
      ['DELETE', 'old', 'of-old'],
      ['POST', 'new', undefined],
    ]);
  });

  it('that change before a session begins, or while they are read for it, are those it goes on with', async () => {
    for (const after of [0, 1, 2, 3, 4, 5, 6, 8, 10]) {
      let key = 'old';
      const { credentials, changed } = source({ ada: () => ({ headers: { 'x-key': key } }) });
      const { url, headers } = await seen();
      const talk = await open(backendAt({ url, transport: 'http' }, credentials));
      if (after === 0) changed('ada');
      const opening = talk.ask('initialize', params);
      // At each step on the way to the first byte.
      for (let step = 0; step < after; step++) await Promise.resolve();
      key = 'new';
      changed('ada');
      expect((await opening).error).toBeUndefined();
      talk.tell({ method: 'notifications/initialized' });
      expect((await talk.ask('ping')).result).toEqual({});
      expect([after, headers.at(-1), talk.isClosed()]).toEqual([after, 'POST new undefined', false]);
    }
  });
});
