import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it } from 'vitest';
import { callerOf, type McpLike } from '../../../src/mcp/index.ts';
import type { ServerSource } from '../../../src/mcp/protocol.ts';
import {
  defaultSessionLimits,
  initializeRequest,
  readAnswer,
  readAnswers,
  startGate,
} from '../support/gate.ts';
import { initialized, inSession, ping } from '../support/talking-server.ts';
import { createSlowServer } from '../support/tools.ts';

describe('a session', () => {
  it('begins with initialize and a random id of visible characters (B3-10, A12-04)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const ids = [await gate.initialize(token), await gate.initialize(token)];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{53}$/);
  });

  it.each(['POST', 'GET', 'DELETE'])('must be named: %s without its id is 400 (B3-10)', async (method) => {
    const gate = await startGate();
    const response = await gate.send(gate.issue('ann'), { method, json: ping() });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32000]);
  });

  it.each(['POST', 'GET', 'DELETE'])('must be known: %s with another id is 404 (B3-10)', async (method) => {
    const gate = await startGate();
    const response = await gate.send(gate.issue('ann'), { method, json: ping(), headers: inSession('nope') });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([404, -32001]);
  });

  it('ends with DELETE; its id is unknown from then on (B3-10)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    expect((await gate.send(token, { method: 'DELETE', headers })).status).toBe(200);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(404);
    expect(seen).toMatchObject({ made: 1, closed: 1 });
  });

  it.each(['POST', 'GET', 'DELETE'])(
    'is unknown to another account by %s (T-125, A12-04)',
    async (method) => {
      const gate = await startGate();
      const ann = gate.issue('ann');
      const headers = inSession(await gate.initialize(ann));
      const theft = await gate.send(gate.issue('bob'), { method, headers, json: ping() });
      const unknown = await gate.send(gate.issue('bob'), {
        method,
        headers: inSession('nope'),
        json: ping(),
      });
      expect([theft.status, await theft.json()]).toEqual([unknown.status, await unknown.json()]);
      expect((await gate.send(ann, { json: ping(), headers })).status).toBe(200);
    },
  );

  it('is unknown to another client of the account, and known to its refreshed token (T-126, T-104)', async () => {
    const gate = await startGate();
    const headers = inSession(await gate.initialize(gate.issue('ann', { clientId: 'client-1' })));
    const otherClient = gate.issue('ann', { clientId: 'client-2' });
    const runTogether = gate.issue('ann","client-1', { clientId: '' });
    const refreshed = gate.issue('ann', { clientId: 'client-1' });
    expect((await gate.send(otherClient, { json: ping(), headers })).status).toBe(404);
    expect((await gate.send(runTogether, { json: ping(), headers })).status).toBe(404);
    expect((await gate.send(refreshed, { json: ping(), headers })).status).toBe(200);
  });

  it('is no authentication: its id without a token, or with an expired one, is 401 (A12-04)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    expect((await gate.send(undefined, { json: ping(), headers })).status).toBe(401);
    gate.passTime(3600);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(401);
  });

  it('takes the scopes of each request, not those it was opened with (A12-04)', async () => {
    const gate = await startGate();
    const session = await gate.initialize(gate.issue('ann'));
    const lesser = gate.issue('ann', { scopes: ['notes:read'] });
    const json = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'add_note', arguments: { text: 'x' } },
    };
    expect((await gate.send(lesser, { json, headers: inSession(session) })).status).toBe(403);
  });

  it('ends when it was idle for too long (T-144)', async () => {
    const gate = await startGate({
      sessionLimits: { ...defaultSessionLimits, maxPerPrincipal: 10, maxTotal: 10, idleSeconds: 60 },
    });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token));
    gate.passTime(59);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(200);
    gate.passTime(59);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(200);
    gate.passTime(60);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(404);
  });

  it('is not opened by an initialize that names no version (T-144)', async () => {
    const { source, seen } = createSlowServer();
    const gate = await startGate({ source });
    const json = { jsonrpc: '2.0', id: 5, method: 'initialize', params: {} };
    const response = await gate.send(gate.issue('ann'), { json });
    expect([response.status, await readAnswer(response)]).toMatchObject([
      400,
      { id: 5, error: { code: -32602 } },
    ]);
    expect([response.headers.get('mcp-session-id'), seen.made]).toEqual([null, 0]);
  });

  it('leaves nothing behind when its server cannot be made', async () => {
    let fail = true;
    const { source } = createSlowServer();
    const gate = await startGate({
      source: {
        sharing: 'each',
        create: (context) => (fail ? Promise.reject(new Error('secret reason')) : source.create(context)),
      },
      sessionLimits: { ...defaultSessionLimits, maxPerPrincipal: 1, maxTotal: 1, idleSeconds: 60 },
    });
    const failed = await gate.send(gate.issue('ann'), { json: initializeRequest() });
    expect([failed.status, await failed.text()]).toEqual([500, 'Internal Server Error']);
    fail = false;
    expect((await gate.send(gate.issue('bob'), { json: initializeRequest() })).status).toBe(200);
  });

  it('serves a server made with the SDK of version 1, and tells it who calls', async () => {
    const gate = await startGate({
      source: {
        sharing: 'each',
        create: () => {
          const server = new ServerV1({ name: 'v1', version: '1.0.0' });
          server.registerTool('who', {}, (extra: Parameters<typeof callerOf>[0]) => ({
            content: [{ type: 'text' as const, text: callerOf(extra).subject }],
          }));
          return server as unknown as McpLike;
        },
      },
    });
    const client = await gate.connect(gate.issue('ann'));
    expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
      content: [{ text: 'ann' }],
    });
  });
});

describe('a session whose server does not begin it any more', () => {
  /** Servers that end when they are told to, and then begin nothing. */
  function endingSource(): ServerSource {
    const error = { code: -32603, message: 'The MCP server is broken.', data: { reason: 'broken' } };
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'ending', version: '1' },
    };
    let isBroken = false;
    return {
      sharing: 'each',
      create: () => ({
        async connect(transport) {
          transport.onmessage = (message) => {
            const { id, method } = message as { id?: number; method?: string };
            if (method === 'notifications/roots/list_changed') {
              isBroken = true;
              void transport.close();
            } else if (id !== undefined)
              void transport.send({ jsonrpc: '2.0', id, ...(isBroken ? { error } : { result }) });
          };
        },
        close: () => Promise.resolve(),
      }),
    };
  }

  it('answers requests with the reason, what asks nothing with 503, and can be ended (T-155)', async () => {
    const gate = await startGate({ source: endingSource() });
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token, '2025-11-25'));
    await gate.send(token, { json: { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, headers });
    const response = await gate.send(token, { json: ping(7), headers });
    expect([response.status, await readAnswer(response)]).toMatchObject([
      200,
      { id: 7, error: { code: -32603, data: { reason: 'broken' } } },
    ]);
    const listening = await gate.send(token, { method: 'GET', headers });
    expect([listening.status, await listening.json()]).toMatchObject([
      503,
      { id: null, error: { code: -32603 } },
    ]);
    expect((await gate.send(token, { method: 'DELETE', headers })).status).toBe(200);
    expect((await gate.send(token, { json: ping(), headers })).status).toBe(404);
  });
});

describe('the version of a session', () => {
  it('that is not supported is 400; one that is left out is the one agreed on (B3-17)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const session = await gate.initialize(token, '2025-06-18');
    const status = async (headers: Record<string, string>) =>
      (await gate.send(token, { json: ping(), headers: inSession(session, headers) })).status;
    expect(await status({ 'mcp-protocol-version': '2025-06-18' })).toBe(200);
    expect(await status({})).toBe(200);
    expect(await status({ 'mcp-protocol-version': '2025-09-09' })).toBe(400);
    expect(await status({ 'mcp-protocol-version': 'latest' })).toBe(400);
  });

  it('allows batches in 2025-03-26, with and without the header (B3-13)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const session = await gate.initialize(token, '2025-03-26');
    const withHeader: Record<string, string> = { 'mcp-protocol-version': '2025-03-26' };
    for (const more of [{}, withHeader]) {
      const json = [ping('a'), initialized, ping('b')];
      const answers = await readAnswers(await gate.send(token, { json, headers: inSession(session, more) }));
      expect(answers.map(({ id }) => id).sort()).toEqual(['a', 'b']);
    }
    const silent = await gate.send(token, { json: [initialized], headers: inSession(session) });
    expect(silent.status).toBe(202);
  });

  it.each<[string, Record<string, string>]>([
    ['2025-06-18', {}],
    ['2025-11-25', {}],
    ['2025-11-25', { 'mcp-protocol-version': '2025-03-26' }],
    ['2025-03-26', { 'mcp-protocol-version': '2025-06-18' }],
  ])('%s with %j allows no batches (B3-14, T-133, T-136)', async (version, more) => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token, version), more);
    const response = await gate.send(token, { json: [ping()], headers });
    expect([response.status, (await readAnswer(response)).error?.code]).toEqual([400, -32600]);
  });

  it('refuses a batch that uses an id twice (T-142)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = inSession(await gate.initialize(token, '2025-03-26'));
    expect((await gate.send(token, { json: [ping(1), ping(1)], headers })).status).toBe(400);
  });
});
