import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseChallenges } from '../../../src/oauth/challenge.ts';
import { initializeRequest, modernRequest, readAnswer, startGate } from '../support/gate.ts';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('checks before dispatch', () => {
  it.each(['GET', 'POST', 'DELETE', 'HEAD'])(
    'begin with who is calling: %s without a token is 401 (T-095)',
    async (method) => {
      const gate = await startGate();
      const response = await gate.send(undefined, { method, json: initializeRequest() });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('resource_metadata="');
      expect(response.headers.get('mcp-session-id')).toBeNull();
    },
  );

  it.each(['PUT', 'PATCH', 'HEAD'])(
    'refuse %s with 405 and the methods there are (B3-01)',
    async (method) => {
      const gate = await startGate();
      const response = await gate.send(gate.issue('ann'), { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    },
  );

  it('tell OPTIONS the methods', async () => {
    const gate = await startGate();
    const response = await gate.send(undefined, { method: 'OPTIONS' });
    expect([response.status, response.headers.get('allow')]).toEqual([204, 'GET, POST, DELETE, OPTIONS']);
  });

  it.each<[string, Record<string, string>, string, number, number]>([
    ['another content type', { 'content-type': 'text/plain' }, '{}', 415, -32000],
    ['another charset', { 'content-type': 'application/json; charset=utf-7' }, '{}', 415, -32000],
    ['a content coding', { 'content-encoding': 'gzip' }, '{}', 415, -32000],
    ['Accept without event streams', { accept: 'application/json' }, '{}', 406, -32000],
    ['a body that is no JSON', {}, '{"jsonrpc":', 400, -32700],
    ['a body that is no message, behind a byte order mark', {}, '\ufeff{}', 400, -32600],
    ['no body', {}, '', 400, -32700],
    ['JSON that is no message', {}, '{"hello":1}', 400, -32600],
    ['an empty batch', {}, '[]', 400, -32600],
    ['a batch of 101', {}, JSON.stringify(Array(101).fill(ping)), 400, -32600],
    ['a batch with initialize', {}, JSON.stringify([initializeRequest()]), 400, -32600],
    ['a batch within a batch', {}, JSON.stringify([[ping]]), 400, -32600],
    ['too deep a nesting', {}, `${'['.repeat(1000)}${']'.repeat(1000)}`, 400, -32600],
    ['a null id', {}, JSON.stringify({ ...ping, id: null }), 400, -32600],
  ])(
    'refuse %s with a JSON-RPC error (B3-02, B3-03, T-135, T-136, T-138)',
    async (_what, headers, body, status, code) => {
      const gate = await startGate();
      const response = await gate.send(gate.issue('ann'), { headers, body });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('application/json');
      const answer = await readAnswer(response);
      expect(answer).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code, message: expect.stringMatching(/\.$/) },
      });
      expect(JSON.stringify(answer)).not.toMatch(/\bat \/|node_modules|\.ts\b/);
    },
  );

  it('refuse invalid UTF-8 (T-138)', async () => {
    const gate = await startGate();
    const response = await gate.send(gate.issue('ann'), { body: Buffer.from([0x7b, 0xff, 0x7d]) });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32700]);
  });

  it('take wildcards in Accept, as curl sends them', async () => {
    const gate = await startGate();
    const response = await gate.send(gate.issue('ann'), {
      headers: { accept: '*/*' },
      json: initializeRequest(),
    });
    expect(response.status).toBe(200);
    await response.text();
  });
});

describe('a body over the limit', () => {
  it('is refused by its announced length before a byte of it is sent (B3-02, T-134)', async () => {
    const gate = await startGate({ maxBodyBytes: 1000 });
    const { hostname, port } = new URL(gate.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      [
        'POST /mcp HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${gate.issue('ann')}`,
        'Content-Type: application/json',
        'Content-Length: 1001',
        '\r\n',
      ].join('\r\n'),
    );
    const [head] = await once(socket, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 413 /);
    expect(String(head)).toMatch(/connection: close/i);
    await once(socket, 'close');
  });

  it('is refused while it comes in, where its length was not announced (T-134)', async () => {
    const gate = await startGate({ maxBodyBytes: 100_000 });
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 50_000;
        if (sent > 50_000_000) return controller.close();
        controller.enqueue(new Uint8Array(50_000).fill(0x20));
      },
    });
    const outcome = await gate.send(gate.issue('ann'), { body }).then(
      async (response) => [response.status, (await readAnswer(response)).error?.code],
      () => 'cut off',
    );
    expect([[413, -32000], 'cut off']).toContainEqual(outcome);
    expect(sent).toBeLessThan(50_000_000);
  });

  it('leaves a body at the limit alone', async () => {
    const gate = await startGate({ maxBodyBytes: 1000 });
    const json = JSON.stringify(initializeRequest());
    const response = await gate.send(gate.issue('ann'), { body: json.padEnd(1000, ' ') });
    expect(response.status).toBe(200);
    await response.text();
  });
});

describe('the scope gate', () => {
  const addNote = { name: 'add_note', arguments: { text: 'x' } };

  it('answers 403 with all scopes the tool needs, in a session (A8-02, A8-04, T-102)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann', { scopes: ['notes:read'] });
    const session = await gate.initialize(token);
    const response = await gate.send(token, {
      headers: { 'mcp-session-id': session },
      json: { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: addNote },
    });
    expect(response.status).toBe(403);
    const [challenge] = parseChallenges(response.headers.get('www-authenticate') ?? '');
    expect(challenge?.parameters).toEqual({
      error: 'insufficient_scope',
      error_description: expect.any(String),
      scope: 'notes:write',
      resource_metadata: new URL('/.well-known/oauth-protected-resource/mcp', gate.url).href,
    });
    expect(await readAnswer(response)).toMatchObject({ id: 'x', error: { code: -32000 } });
  });

  it('answers the same the way of 2026-07-28 (A8-04, T-102)', async () => {
    const gate = await startGate();
    const response = await gate.callModern(gate.issue('ann', { scopes: [] }), 'tools/call', addNote);
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('scope="notes:write"');
    expect(await readAnswer(response)).toMatchObject({ id: 1 });
  });

  it('goes by the message, not by the header that mirrors it (T-132)', async () => {
    const gate = await startGate();
    const request = modernRequest('tools/call', addNote);
    const headers = { ...request.headers, 'mcp-name': 'whoami' };
    const without = await gate.send(gate.issue('ann', { scopes: [] }), { ...request, headers });
    const withScope = await gate.send(gate.issue('ann'), { ...request, headers });
    for (const refused of [without, withScope])
      expect([refused.status, (await readAnswer(refused)).error?.code]).toEqual([400, -32020]);
  });

  it('lets no tool name into the challenge (T-102)', async () => {
    const gate = await startGate({ scopeRules: { tools: { 'x"\r\nSet-Cookie: a=b': ['notes:write'] } } });
    const token = gate.issue('ann', { scopes: [] });
    const response = await gate.send(token, {
      headers: { 'mcp-session-id': await gate.initialize(token) },
      json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x"\r\nSet-Cookie: a=b' } },
    });
    expect(response.status).toBe(403);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(response.headers.get('www-authenticate')).not.toContain('Set-Cookie');
  });

  it('holds for every message of a batch', async () => {
    const gate = await startGate();
    const token = gate.issue('ann', { scopes: ['notes:read'] });
    const session = await gate.initialize(token, '2025-03-26');
    const call = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name },
    });
    const response = await gate.send(token, {
      headers: { 'mcp-session-id': session },
      json: [call(1, 'whoami'), call(2, 'add_note')],
    });
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('scope="notes:write"');
  });
});
