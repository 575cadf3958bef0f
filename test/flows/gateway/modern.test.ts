// Flows through src/gateway/modern/modern-source.ts, src/gateway/modern/eras.ts, src/gateway/modern/era-server.ts,
// src/gateway/backends/remote/http-link.ts, src/gateway/modern/modern-link.ts, src/gateway/modern/modern-backend.ts,
// src/gateway/modern/modern-call.ts, src/gateway/modern/modern-call.ts, src/gateway/modern/translated-call.ts,
// src/gateway/modern/translated-call.ts, src/gateway/modern/translating-server.ts and src/gateway/modern/translating-server.ts:
// real servers of SDK v2 on loopback, real logins, the real clients of both SDKs.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { capableClients, connectCapable } from './support/capable-clients.ts';
import { type ModernElsewhere, serveModern } from './support/modern-elsewhere.ts';
import { postModern } from './support/post-modern.ts';

const scopes = ['mcp'];

let elsewhere: ModernElsewhere;
let gate: RunningGatehouse;
const start = async (legacy: 'reject' | 'stateless'): Promise<void> => {
  elsewhere = await serveModern(legacy);
  gate = await startGatehouse({ backend: { url: elsewhere.url, name: 'Elsewhere' } });
  await gate.administration.accounts.add(grace.email, grace.password);
};
const stop = async (): Promise<void> => {
  await gate.stop();
  await elsewhere.stop();
};
const methods = (): string[] => elsewhere.received.map(({ method }) => method);

describe('a server of 2026-07-28 alone behind the gate', () => {
  beforeAll(() => start('reject'));
  afterAll(stop);

  it.each(capableClients)(
    'serves the client of %s: lists, calls, and what is asked resumes the very call (B5-16, C4-05, C4-06)',
    async (kind) => {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      expect(client.serverName()).toBe('asking');
      expect(await client.listTools()).toContain('twice');
      expect(await client.call('echo', { text: 'one' })).toMatchObject({ said: 'one' });
      elsewhere.memory.ran.length = 0;
      expect(await client.call('ask', { whom: 'ada' })).toEqual({ name: 'Ada', state: 'state of ada' });
      expect(await client.call('sample')).toEqual({ type: 'text', text: 'Ada' });
      expect(await client.call('roots')).toEqual(['file:///Ada']);
      expect(await client.call('twice')).toBe('Ada Ada the last');
      expect(elsewhere.memory.ran.join(' ')).toBe('ask ask sample sample roots roots twice twice twice');
      expect(client.heard.filter((method) => method.includes('/'))).toEqual([
        'elicitation/create',
        'sampling/createMessage',
        'roots/list',
        'elicitation/create',
        'elicitation/create',
      ]);
      await client.close();
    },
  );

  it.each(capableClients)(
    'carries progress and log messages to the client of %s (C6-03, C6-04)',
    async (kind) => {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      const progress: number[] = [];
      await client.call('steps', {}, (step) => progress.push(step));
      expect([progress, client.heard]).toEqual([[1, 2, 3], []]);
      await client.setLevel('info');
      await client.call('steps');
      expect(client.heard).toEqual(['step 1', 'step 2', 'step 3']);
      await client.close();
    },
  );

  it.each(capableClients)(
    'tells the client of %s what changed, also after the connection broke (B1-06, C5-01, C5-03)',
    async (kind) => {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      await client.follow('test://a');
      await client.call('change', { uri: 'test://a' });
      await vi.waitFor(() => expect(client.heard.sort()).toEqual(['test://a', 'tools']));
      client.heard.length = 0;
      elsewhere.received.length = 0;
      elsewhere.cut();
      await vi.waitFor(() => expect(methods()).toContain('subscriptions/listen'), 5000);
      // What happened meanwhile nobody knows, so everything may have changed.
      await vi.waitFor(() => expect([...new Set(client.heard)].sort()).toEqual(['test://a', 'tools']));
      client.heard.length = 0;
      await client.call('change', { uri: 'test://a' });
      await vi.waitFor(() => expect(client.heard.sort()).toEqual(['test://a', 'tools']));
      await client.close();
    },
  );

  it('passes a call of 2026-07-28 on as it is, with new ids, and nothing of the HTTP request (B5-03, B5-12, B7-17, C1-08, T-105, T-159)', async () => {
    const client = await connectCapable('SDK v2, 2026-07-28', gate.mcpUrl, { scopes });
    elsewhere.received.length = 0;
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'by hand', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
      baggage: 'c=d',
      'example.com/kept': 'yes',
      auth: { TOKEN: 'of the caller' },
      progressToken: 'mine',
    };
    const response = await postModern(gate.mcpUrl, client.accessToken, {
      method: 'tools/call',
      params: { name: 'look', arguments: {} },
      meta: _meta,
      id: 'my own',
      headers: { 'mcp-param-other': 'unknown here', 'x-forwarded-user': 'root', cookie: 'a=b' },
    });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ id: 'my own' });
    const call = elsewhere.received.find(({ method }) => method === 'tools/call');
    const { auth, progressToken, ...kept } = _meta;
    expect(call?.params._meta).toEqual({ ...kept, progressToken: call?.id });
    expect(call?.id).not.toBe('my own');
    expect(call?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'look',
      'mcp-param-other': 'unknown here',
    });
    for (const name of ['authorization', 'cookie', 'x-forwarded-user'])
      expect(call?.headers).not.toHaveProperty(name);
    expect(text).not.toContain(client.accessToken);
    await client.close();
  });

  it.each([
    ['lacks what every request has', {}],
    ['has a capability that is none', { 'io.modelcontextprotocol/clientCapabilities': { sampling: 5 } }],
    [
      'has a log level that is none',
      {
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/logLevel': 'loud',
      },
    ],
  ])(
    'is asked itself where _meta %s, and what it says is what its caller hears (C3-01)',
    async (_what, more) => {
      const { tokens } = await obtainTokens({ url: gate.url, mcpUrl: gate.mcpUrl }, { scope: 'mcp', scopes });
      const ask = async () => {
        elsewhere.received.length = 0;
        const response = await postModern(gate.mcpUrl, tokens.access_token, {
          method: 'tools/call',
          params: { name: 'echo', arguments: { text: 'x' } },
          meta: more,
          id: 'mine',
        });
        const asked = elsewhere.received.filter(({ method }) => method === 'tools/call');
        expect(asked.map(({ params }) => params._meta)).toEqual([
          { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', ...more },
        ]);
        return { status: response.status, ...((await response.json()) as object) };
      };
      expect(await ask()).toMatchObject({ status: 400, id: 'mine', error: { code: -32602 } });
      const error = { code: -32602, message: 'in its own words', data: { of: 'its own' } };
      elsewhere.instead(({ id, method }) =>
        method === 'tools/call' ? Response.json({ jsonrpc: '2.0', id, error }, { status: 400 }) : undefined,
      );
      try {
        expect(await ask()).toEqual({ status: 400, jsonrpc: '2.0', id: 'mine', error });
      } finally {
        elsewhere.instead();
      }
    },
  );

  it.each(capableClients)(
    'repeats parameters in headers for the client of %s (B5-08, B5-09, B5-10)',
    async (kind) => {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      await client.listTools();
      expect(await client.call('region', { region: 'Zürich' })).toEqual({
        region: 'Zürich',
        header: '=?base64?WsO8cmljaA==?=',
      });
      expect(await client.call('region', {})).toEqual({ header: null });
      await client.close();
    },
  );

  it('gives each of two people their own answers, and takes a request state from nobody else (C4-03, T-127, T-129, T-158)', async () => {
    const people = await Promise.all([
      connectCapable('SDK v2, 2026-07-28', gate.mcpUrl, { scopes }, 'Ada'),
      connectCapable('SDK v2, 2026-07-28', gate.mcpUrl, { scopes, person: grace }, 'Grace'),
      connectCapable('SDK v1', gate.mcpUrl, { scopes }, 'Ada'),
      connectCapable('SDK v1', gate.mcpUrl, { scopes, person: grace }, 'Grace'),
    ]);
    await Promise.all(
      people.map(async (client, person) => {
        const who = person % 2 === 0 ? 'Ada' : 'Grace';
        for (let turn = 0; turn < 10; turn++) {
          const [asked, echoed] = await Promise.all([
            client.call('ask', { whom: `${who} ${turn}` }),
            client.call('echo', { text: `${person}-${turn}`, delayMs: String((turn * 7) % 20) }),
          ]);
          expect(asked).toEqual({ name: who, state: `state of ${who} ${turn}` });
          expect(echoed).toMatchObject({ said: `${person}-${turn}` });
        }
      }),
    );
    const ask = async (token: string, more: object = {}) => {
      const response = await postModern(gate.mcpUrl, token, {
        method: 'tools/call',
        params: { name: 'ask', arguments: {}, ...more },
        meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } },
      });
      return (await response.json()) as { result?: Record<string, unknown>; error?: { code: number } };
    };
    const [{ accessToken: ada = '' } = {}, { accessToken: hers = '' } = {}] = people;
    const { result = {} } = await ask(ada);
    const { requestState } = result;
    expect(JSON.stringify(result)).not.toContain('state of');
    const inputResponses = { name: { action: 'accept', content: { name: 'Eve' } } };
    elsewhere.memory.ran.length = 0;
    expect((await ask(hers, { requestState, inputResponses })).error?.code).toBe(-32602);
    expect((await ask(hers, { requestState: 'state of nobody', inputResponses })).error?.code).toBe(-32602);
    expect(elsewhere.memory.ran).toEqual([]);
    expect((await ask(ada, { requestState, inputResponses })).result).toMatchObject({
      content: [{ text: '{"name":"Eve","state":"state of nobody"}' }],
    });
    await Promise.all(people.map((client) => client.close()));
  });

  it('hears that a client of 2026-07-28 has gone by the end of its connection (B5-14, C6-01)', async () => {
    for (const kind of capableClients) {
      elsewhere.memory.aborted.length = 0;
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      const hanging = client.call('hang').catch(() => undefined);
      await vi.waitFor(() => expect(elsewhere.memory.ran.at(-1)).toBe('hang'));
      elsewhere.memory.ran.push('');
      await client.close();
      await hanging;
      if (kind === 'SDK v2, 2026-07-28')
        await vi.waitFor(() => expect(elsewhere.memory.aborted).toEqual(['hang']));
    }
  });
});

describe('a server of both eras behind the gate', () => {
  beforeAll(() => start('stateless'));
  afterAll(stop);

  it('gives each caller its own era, without translation (B5-16)', async () => {
    const versionsOf = async (kind: (typeof capableClients)[number]): Promise<Set<unknown>> => {
      const client = await connectCapable(kind, gate.mcpUrl, { scopes });
      elsewhere.received.length = 0;
      expect(await client.call('echo', { text: 'x' })).toMatchObject({ said: 'x' });
      const calls = elsewhere.received.filter(({ method }) => method === 'tools/call');
      await client.close();
      return new Set(calls.map(({ headers }) => headers['mcp-protocol-version']));
    };
    expect(await versionsOf('SDK v1')).toEqual(new Set(['2025-11-25']));
    expect(await versionsOf('SDK v2, older')).toEqual(new Set(['2025-11-25']));
    expect(await versionsOf('SDK v2, 2026-07-28')).toEqual(new Set(['2026-07-28']));
  });

  it('is asked once what it speaks, and not again (B5-15, C3-09)', async () => {
    const client = await connectCapable('SDK v2, 2026-07-28', gate.mcpUrl, { scopes });
    elsewhere.received.length = 0;
    for (let turn = 0; turn < 3; turn++) await client.call('echo', { text: 'x' });
    expect(methods().filter((method) => method === 'server/discover')).toEqual([]);
    await client.close();
  });
});
