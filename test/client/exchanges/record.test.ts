import { describe, expect, it } from 'vitest';
import { type Exchange, recordExchanges, watchBody } from '../../../src/client/exchanges/record.ts';
import { startServer } from '../support/scripted-server.ts';

describe('a record of exchanges', () => {
  it('holds request and answer in the order they began, without secrets (T-191)', async () => {
    const server = await startServer({
      'POST /token': { json: { access_token: 'very-secret-token', token_type: 'Bearer' } },
      'GET /mcp': { status: 401, headers: { 'www-authenticate': 'Bearer' }, text: 'no very-secret-token' },
    });
    const record = recordExchanges(fetch);
    const answer = await record.fetch(`${server.origin}/token`, {
      method: 'post',
      body: new URLSearchParams({ code: 'very-secret-code', grant_type: 'authorization_code' }),
    });
    expect(await answer.json()).toEqual({ access_token: 'very-secret-token', token_type: 'Bearer' });
    const refused = await record.fetch(new URL(`${server.origin}/mcp?access_token=very-secret-token`), {
      headers: { authorization: 'Bearer very-secret-token' },
    });
    expect(refused.url).toBe(`${server.origin}/mcp?access_token=very-secret-token`);
    expect(refused.status).toBe(401);
    await refused.text();
    expect(record.exchanges).toMatchObject([
      {
        number: 1,
        request: {
          method: 'POST',
          url: `${server.origin}/token`,
          body: 'code=<secret:code>&grant_type=authorization_code',
        },
        response: { status: 200, body: '{"access_token":"<secret:access_token>","token_type":"Bearer"}' },
      },
      {
        number: 2,
        request: {
          method: 'GET',
          url: `${server.origin}/mcp?access_token=<secret:access_token>`,
          headers: [['authorization', 'Bearer <secret:access_token>']],
        },
        response: { status: 401, body: 'no <secret:access_token>' },
      },
    ]);
    expect(record.exchanges[1]?.response?.headers).toContainEqual(['www-authenticate', 'Bearer']);
    expect(JSON.stringify(record.exchanges)).not.toContain('very-secret');
  });

  it('says why no answer came', async () => {
    const told: Exchange[] = [];
    const server = await startServer({ 'GET /': { raw: (response) => void response.destroy() } });
    const record = recordExchanges(fetch, { onExchange: (exchange) => told.push(exchange) });
    await expect(record.fetch(`${server.origin}/`)).rejects.toThrow('fetch failed');
    expect(record.exchanges[0]).toMatchObject({
      failure: expect.stringMatching(/closed|ECONNRESET|SOCKET/i),
    });
    expect(record.exchanges[0]?.response).toBeUndefined();
    expect(told).toHaveLength(1);
  });

  it('tells of an exchange when its body is over, and of an event stream at its head', async () => {
    const told: string[] = [];
    const server = await startServer({
      'GET /json': { json: {} },
      'GET /empty': { status: 204, text: '' },
      'GET /stream': {
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('data: {"access_token":"never-shown-token"}\n\n');
        },
      },
    });
    const record = recordExchanges(fetch, {
      onExchange: ({ request }) => told.push(new URL(request.url).pathname),
    });
    const json = await record.fetch(`${server.origin}/json`);
    expect(told).toEqual([]);
    await json.text();
    expect(told).toEqual(['/json']);
    await record.fetch(`${server.origin}/empty`);
    const stream = await record.fetch(`${server.origin}/stream`);
    expect(told).toEqual(['/json', '/empty', '/stream']);
    const reader = stream.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain('never-shown-token');
    await reader?.cancel();
    expect(record.exchanges[2]?.response?.body).toBe('data: {"access_token":"<secret:access_token>"}\n\n');
    expect(told).toEqual(['/json', '/empty', '/stream']);
  });

  it('holds bodies up to its limit, and marks what is cut', async () => {
    const server = await startServer({ 'POST /': { text: 'x'.repeat(5000) } });
    const record = recordExchanges(fetch, { maxBodyBytes: 10 });
    const answer = await record.fetch(`${server.origin}/`, { method: 'POST', body: 'y'.repeat(5000) });
    expect((await answer.text()).length).toBe(5000);
    expect(record.exchanges[0]?.response).toMatchObject({ body: 'x'.repeat(10), truncated: true });
    expect(record.exchanges[0]?.request.body).toBe('y'.repeat(10));
  });

  it('counts the time until the head of the answer in milliseconds', async () => {
    let now = 1000;
    const server = await startServer({
      'GET /': () => {
        now = 1250;
        return { text: 'ok' };
      },
    });
    const record = recordExchanges(fetch, { nowMs: () => now });
    await record.fetch(`${server.origin}/`);
    expect(record.exchanges[0]).toMatchObject({ startedAtMs: 1000, durationMs: 250 });
  });
});

describe('watch body', () => {
  function watched(
    chunks: readonly string[],
    maxBytes: number,
    end: 'closes' | 'stays' | 'fails' = 'closes',
  ) {
    const seen: [string, boolean, boolean][] = [];
    const events: string[] = [];
    let pulled = 0;
    const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull(controller) {
          const next = chunks[pulled++];
          if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
          else if (end === 'fails') controller.error(new Error('cut'));
          else if (end === 'closes') controller.close();
        },
        cancel: () => void events.push('source cancelled'),
      },
      { highWaterMark: 0 },
    );
    const body = watchBody(source, maxBytes, {
      text: (...what) => void seen.push(what),
      failed: (error) => void events.push(`failed: ${(error as Error).message}`),
      over: () => void events.push('over'),
    });
    return { body, seen, events, pulled: () => pulled };
  }

  describe('a watched body', () => {
    it('reaches its reader whole, and is shown as it passes', async () => {
      const { body, seen, events } = watched(['ab', 'cd'], 100);
      expect(await new Response(body).text()).toBe('abcd');
      expect(seen).toEqual([
        ['ab', false, false],
        ['abcd', false, false],
        ['abcd', true, false],
      ]);
      expect(events).toEqual(['over']);
    });

    it('is kept up to the limit only, and never said to be complete beyond it (T-189)', async () => {
      const { body, seen } = watched(['abc', 'def', 'ghi'], 4);
      expect(await new Response(body).text()).toBe('abcdefghi');
      expect(seen.at(-1)).toEqual(['abcd', false, true]);
    });

    it('is read no faster than its reader reads', async () => {
      const { body, pulled } = watched(['a', 'b', 'c'], 100, 'stays');
      await Promise.resolve();
      expect(pulled()).toBe(0);
      const reader = body.getReader();
      await reader.read();
      expect(pulled()).toBe(1);
      await reader.cancel();
    });

    it('is cancelled at its source when its reader goes away', async () => {
      const { body, events } = watched(['a'], 100, 'stays');
      const reader = body.getReader();
      await reader.read();
      await reader.cancel();
      expect(events).toEqual(['over', 'source cancelled']);
    });

    it('passes a failure on', async () => {
      const { body, events } = watched(['a'], 100, 'fails');
      await expect(new Response(body).text()).rejects.toThrow('cut');
      expect(events).toEqual(['failed: cut', 'over']);
    });
  });
});
