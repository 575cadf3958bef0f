// What a server gives a caller to come back with (request states, cursors, ids of events), sent by others, by other
// clients, at other routes and in other eras: real programs and servers behind one gate, real logins, through
// src/mcp/modern/streamable-http.ts, src/mcp/modern/bridged-call.ts, src/gateway/modern/translating-server.ts,
// src/gateway/aggregate/joined-lists.ts and src/composition/mcp-endpoint.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { grace } from '../../support/served.ts';
import { messagesIn } from '../attacks/support/stream.ts';
import { type ModernElsewhere, serveModern } from './support/modern-elsewhere.ts';

const older = nodeProgram('test/support/backend/server.ts');
const asking = nodeProgram('test/support/backend/asking-program.ts', 'modern');
const paging = (mark: string) => nodeProgram('test/flows/gateway/support/paging.ts', mark);

/** Who holds a token, and where it is good. */
type Holder = 'owner' | 'other account' | 'other client' | 'other route';

/** What a request was answered with. */
interface Answered {
  status: number;
  text: string;
  headers: Headers;
  message: { result?: Record<string, unknown>; error?: { code: number } };
}

let url26: ModernElsewhere;
let gate: RunningGatehouse;
const clients: string[] = [];
beforeAll(async () => {
  url26 = await serveModern('reject');
  const kinds: Record<string, (mark: string) => object> = {
    'program-older': () => ({ backend: older }),
    'program-modern': () => ({ backend: asking }),
    'url-modern': () => ({ backend: { url: url26.url } }),
    joined: (mark) => ({ backends: { old: older, young: asking, list: paging(mark) } }),
  };
  const routes: Record<string, object> = {};
  for (const [kind, make] of Object.entries(kinds)) {
    routes[kind] = { name: kind, ...make('owned') };
    routes[`${kind}-too`] = { name: `${kind} too`, ...make('of-another') };
  }
  gate = await startGatehouse({ routes } as never);
  await gate.administration.accounts.add(grace.email, grace.password);
  for (let count = 0; count < 2; count++) clients.push((await register(gate.url)).client_id);
});
afterAll(async () => {
  await gate.stop();
  await url26.stop();
});

async function tokenOf(holder: Holder, kind: string, endpoint = 'mcp'): Promise<[string, string]> {
  const mcpUrl = `${gate.url}/${holder === 'other route' ? `${kind}-too` : kind}/${endpoint}`;
  const { tokens } = await obtainTokens(
    { url: gate.url, mcpUrl },
    {
      clientId: clients[holder === 'other client' ? 1 : 0] ?? '',
      person: holder === 'other account' ? grace : ada,
      scope: 'mcp',
      scopes: ['mcp'],
    },
  );
  return [mcpUrl, tokens.access_token];
}

/** Sends requests as one holder of a token. */
function sender([url, token]: [string, string]) {
  const send = async (said: object, headers: Record<string, string> = {}): Promise<Answered> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...said }),
    });
    const text = await response.text();
    const message = messagesIn(text).at(-1) ?? (text === '' ? {} : JSON.parse(text));
    return { status: response.status, text, headers: response.headers, message };
  };
  const initialize = (protocolVersion: string) => ({
    method: 'initialize',
    params: {
      protocolVersion,
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    },
  });
  return {
    url,
    token,
    send,
    modern: (method: string, params: Record<string, unknown> = {}) =>
      send(
        {
          method,
          params: {
            ...params,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
              'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
            },
          },
        },
        {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
        },
      ),
    /** Begins a session; gives the header that names it. */
    async session(revision = '2025-11-25'): Promise<Record<string, string>> {
      const { headers } = await send(initialize(revision));
      const named = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
      await send({ id: undefined, method: 'notifications/initialized' }, named);
      return named;
    },
  };
}

describe.each([
  ['program-older', 'ask', 'echo'],
  ['program-modern', 'ask', 'twice'],
  ['url-modern', 'ask', 'twice'],
  ['joined', 'old_ask', 'old_echo'],
  ['joined', 'young_ask', 'young_twice'],
])('a request state of the route %s, tool %s', (kind, name, otherTool) => {
  it('is taken from its own caller at its own route for its own request, and is nothing anywhere else (T-129, T-158)', async () => {
    const owner = sender(await tokenOf('owner', kind));
    const call = { name, arguments: {} };
    const asked = await owner.modern('tools/call', call);
    const { requestState, inputRequests } = asked.message.result as {
      requestState: string;
      inputRequests: object;
    };
    const [key = ''] = Object.keys(inputRequests);
    expect(requestState).toMatch(/^[\w.-]{40,}$/);
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Mallory' } } };
    const given = { ...call, requestState, inputResponses };

    const refused: [string, Answered][] = [];
    for (const holder of ['other account', 'other client', 'other route'] as const)
      refused.push([holder, await sender(await tokenOf(holder, kind)).modern('tools/call', given)]);
    refused.push(
      ['another tool', await owner.modern('tools/call', { ...given, name: otherTool })],
      ['other arguments', await owner.modern('tools/call', { ...given, arguments: { whom: 'eve' } })],
      [
        'twice the seal',
        await owner.modern('tools/call', { ...given, requestState: requestState.repeat(2) }),
      ],
      ['the bare state', await owner.modern('tools/call', { ...given, requestState: 'state of nobody' })],
    );
    for (const [what, { status, text, message }] of refused) {
      expect([what, status, message.error?.code]).toEqual([what, 200, -32602]);
      expect(text).not.toMatch(/Mallory|state of/);
    }
    const { text } = await owner.modern('tools/call', given);
    expect(text).toContain('Mallory');
  });

  it('means nothing in older revisions, and neither does one that a client made up (T-129, T-133)', async () => {
    const owner = sender(await tokenOf('owner', kind));
    const { message } = await owner.modern('tools/call', { name, arguments: {} });
    const { requestState } = message.result as { requestState: string };
    const accepted = { action: 'accept', content: { name: 'Mallory' } };
    const inputResponses = { name: accepted, 'input-1': accepted };
    const rest = sender(await tokenOf('owner', kind, 'rest'));
    const session = await owner.session();
    for (const more of [
      { requestState, inputResponses },
      { requestState: 'state of nobody', inputResponses },
      { inputResponses },
    ]) {
      const request = { method: 'tools/call', params: { name, arguments: {}, ...more } };
      for (const answer of [await owner.send(request, session), await rest.send(request)]) {
        expect([answer.status, answer.message.error?.code]).toEqual([200, -32602]);
        expect(answer.text).not.toMatch(/Mallory|state of/);
      }
    }
  });
});

it('a cursor is good for who got it at its route, for its list (C6-06, T-158)', async () => {
  const page = { method: 'tools/list', params: {} };
  const nextOf = ({ message }: Answered) => message.result?.nextCursor as string;
  const owner = sender(await tokenOf('owner', 'joined'));
  const session = await owner.session();
  const rest = sender(await tokenOf('owner', 'joined', 'rest'));
  const ways: Record<string, (params: object, list?: string) => Promise<Answered>> = {
    'in a session': (params, method = 'tools/list') => owner.send({ method, params }, session),
    'of 2026-07-28': (params, method = 'tools/list') => owner.modern(method, { ...params }),
    'over Rest': (params, method = 'tools/list') => rest.send({ method, params }),
  };
  const others = await Promise.all(
    (['other account', 'other client', 'other route'] as const).map(async (holder) => {
      const other = sender(await tokenOf(holder, 'joined'));
      return { holder, other, session: await other.session() };
    }),
  );
  for (const [way, ask] of Object.entries(ways)) {
    const first = await ask({});
    const cursor = nextOf(first);
    expect([way, first.text.includes('list_owned-0'), cursor]).toEqual([way, true, expect.any(String)]);
    for (const { holder, other, session: theirs } of others)
      for (const answer of [
        await other.send({ ...page, params: { cursor } }, theirs),
        await other.modern('tools/list', { cursor }),
      ]) {
        expect([way, holder, answer.message.error?.code]).toEqual([way, holder, -32602]);
        expect(answer.text).not.toContain('owned');
      }
    expect((await ask({ cursor }, 'prompts/list')).message.error?.code).toBe(-32602);
    expect((await ask({ cursor })).text).toContain('list_owned-1');
  }
});

it.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
  'the id of an event of %s is good in its own session alone: 400 in another, 404 to others (T-125, T-140, T-158)',
  async (revision) => {
    const kind = 'program-older';
    const owner = sender(await tokenOf('owner', kind));
    const session = await owner.session(revision);
    const steps = { name: 'steps', arguments: {}, _meta: { progressToken: 'of-the-owner' } };
    const { text } = await owner.send({ method: 'tools/call', params: steps }, session);
    const [, stream = ''] = /^id: (\S+)\/\d+$/m.exec(text) ?? [];
    expect(stream).not.toBe('');
    const resume = async ({ url, token }: { url: string; token: string }, named: Record<string, string>) => {
      const response = await fetch(url, {
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          'last-event-id': `${stream}/0`,
          ...named,
        },
      });
      return { status: response.status, text: await response.text() };
    };
    for (const holder of ['other account', 'other client', 'other route'] as const) {
      const other = sender(await tokenOf(holder, kind));
      const inTheirs = await resume(other, await other.session(revision));
      const inOwners = await resume(other, session);
      const without = await resume(other, { 'mcp-protocol-version': '2026-07-28' });
      expect([holder, inTheirs.status, inOwners.status, without.status]).toEqual([holder, 400, 404, 405]);
      expect(inTheirs.text + inOwners.text + without.text).not.toMatch(/of-the-owner|done/);
    }
    expect((await resume(owner, await owner.session(revision))).status).toBe(400);
    const own = await resume(owner, session);
    expect([own.status, own.text]).toEqual([200, expect.stringContaining('of-the-owner')]);
  },
);
