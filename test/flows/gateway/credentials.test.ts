// What backends are given on behalf of each person, through src/composition/route-backend.ts,
// src/composition/backend-state.ts and src/gateway/credentials/create-credentials.ts: real programs and servers,
// real logins, keys entered on the account page.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { grace } from '../../support/served.ts';
import { readDatabase } from '../../support/test-storage.ts';
import { connectSdkV1 } from '../clients/support/sdk-v1.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveStreamable } from './support/elsewhere.ts';
import { enterKey } from './support/enter-key.ts';
import { serveRest } from './support/rest-elsewhere.ts';

const scopes = ['mcp'];
const modern = { pin: '2026-07-28' } as const;
const program = nodeProgram('test/support/backend/server.ts', 'sound');
const inProgram = { apiKey: { label: 'Notion key', as: { env: 'NOTION_TOKEN' } } };

let http: Elsewhere;
let rest: Awaited<ReturnType<typeof serveRest>>;
let gate: RunningGatehouse;
beforeAll(async () => {
  [http, rest] = await Promise.all([serveStreamable(), serveRest()]);
  gate = await startGatehouse({
    routes: {
      alone: { backend: program, credentials: inProgram },
      joint: { backend: { ...program, process: 'account' }, credentials: inProgram },
      http: {
        backend: { url: http.url, transport: 'http' },
        credentials: { apiKey: { as: { header: 'Authorization', prefix: 'Bearer ' } } },
      },
      rest: {
        backend: { url: rest.url, transport: 'rest' },
        credentials: { apiKey: { as: { auth: 'NOTION_TOKEN' } } },
      },
      careful: {
        name: 'Careful',
        backend: program,
        credentials: inProgram,
        policy: { readOnly: true, checkArguments: true, onToolChange: 'block' },
      },
      later: { name: 'Later', backend: program, credentials: inProgram },
    },
  });
  await gate.administration.accounts.add(grace.email, grace.password);
});
afterAll(async () => {
  await gate.stop();
  await Promise.all([http.stop(), rest.stop()]);
});

type Person = typeof ada;
const urlOf = (route: string) => `${gate.url}/${route}/mcp`;

/** Enters a key on the account page. */
async function enter(route: string, value: string, person: Person) {
  await enterKey(gate, { page: `/credentials/${route}`, value, person });
}

function said(result: unknown): Record<string, unknown> {
  const { content } = result as { content: { text: string }[] };
  return JSON.parse(content[0]?.text ?? '');
}

interface Caller {
  callTool(call: { name: string; arguments: object; _meta?: object }): Promise<unknown>;
}

/** What the backend of a route was given for a call, by the way it is given there. */
const givenTo: Readonly<Record<string, (client: Caller) => Promise<unknown>>> = {
  alone: async (client) => (await seenBy(client, 'surroundings')).env.NOTION_TOKEN,
  joint: async (client) => (await seenBy(client, 'surroundings')).env.NOTION_TOKEN,
  http: async (client) => (await seenBy(client, 'seen')).headers.authorization,
  rest: async (client) => (await seenBy(client, 'seen')).meta.auth,
};

async function seenBy(client: Caller, name: string) {
  const _meta = { auth: { NOTION_TOKEN: 'of-the-caller' } };
  const seen = said(await client.callTool({ name, arguments: {}, _meta }));
  expect(JSON.stringify(seen)).not.toContain('of-the-caller');
  return seen as Record<'env' | 'headers' | 'meta', Record<string, unknown>>;
}

const asGiven: Readonly<Record<string, (key: string) => unknown>> = {
  alone: (key) => key,
  joint: (key) => key,
  http: (key) => `Bearer ${key}`,
  rest: (key) => ({ NOTION_TOKEN: key }),
};

/** Connects as somebody, with a client that has sessions and one that has none. */
async function connectAs(route: string, person: Person) {
  const { client: inSession } = await connectSdkV1(urlOf(route), { scopes, person });
  const { client: without, provider } = await connectSdkV2(urlOf(route), modern, { scopes, person });
  const token = provider.tokens()?.access_token ?? '';
  return {
    clients: [inSession, without] as unknown as Caller[],
    token,
    close: () => Promise.all([inSession.close(), without.close()]),
  };
}

describe.each(Object.keys(givenTo))('a backend of each person’s own: %s', (route) => {
  it('is given the key of who calls in every call, and nothing of the call’s own (T-158, T-159, A7-04, B7-16, B7-17)', async () => {
    const keys = new Map([
      [ada, `$HOME-of-ada-at-${route}`],
      [grace, `key-of-grace-at-${route}`],
    ]);
    for (const [person, key] of keys) await enter(route, key, person);
    const people = await Promise.all(
      [...keys].map(async ([person, key]) => ({ key, ...(await connectAs(route, person)) })),
    );
    const calls = people.flatMap(({ clients, key }) =>
      clients.flatMap((client) =>
        Array.from({ length: 10 }, async () => ({ key, given: await givenTo[route]?.(client) })),
      ),
    );
    for (const { key, given } of await Promise.all(calls)) expect(given).toEqual(asGiven[route]?.(key));
    const received = JSON.stringify([...http.received, ...rest.received]);
    for (const { token, close } of people) {
      expect(token.length).toBeGreaterThan(20);
      expect(received).not.toContain(token);
      await close();
    }
  });
});

describe('a key that is missing', () => {
  it('is said also where a policy has to know the tools before one may be called', async () => {
    const { client } = await connectSdkV1(urlOf('careful'), { scopes, person: ada });
    const refused = await client.callTool({ name: 'echo', arguments: {} }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ data: { reason: 'credential_missing' } });
    expect(String(refused)).toContain('It needs your Notion key.');
    await client.close();
  });

  it('is said with the page to enter it, at once; when it is entered the session goes on', async () => {
    const { client } = await connectSdkV1(urlOf('later'), { scopes, person: ada });
    const refused = await client.callTool({ name: 'echo', arguments: {} }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ data: { reason: 'credential_missing' } });
    expect(String(refused)).toContain('The MCP server Later cannot be used yet. It needs your Notion key.');
    expect(String(refused)).toMatch(
      new RegExp(`Open ${gate.url}/account/credentials/later/[0-9a-f]{16} in a browser`),
    );
    await enter('later', 'later-of-ada', ada);
    expect(await givenTo.alone?.(client as unknown as Caller)).toBe('later-of-ada');
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    await client.close();
  });

  it('is asked for where the client can open URLs, and the very call goes on (C4-01, C7-04)', async () => {
    const person = { email: 'lin@example.com', password: 'yet another horse staple' };
    await gate.administration.accounts.add(person.email, person.password);
    const { client: plain, provider } = await connectSdkV2(urlOf('alone'), modern, { scopes, person });
    await plain.close();
    const token = provider.tokens()?.access_token ?? '';
    const client = new ClientV2(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: modern } },
    );
    const asked: unknown[] = [];
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params);
      const { url } = params as { url: string };
      // A person takes longer than a client.
      const page = new URL(url).pathname.slice('/account'.length);
      setTimeout(() => void enterKey(gate, { page, value: 'late-key', person }), 300);
      return { action: 'accept' };
    });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new TransportV2(new URL(urlOf('alone')), { requestInit }));
    expect(await givenTo.alone?.(client as unknown as Caller)).toBe('late-key');
    expect(asked).toEqual([
      expect.objectContaining({
        mode: 'url',
        url: expect.stringMatching(/\/account\/credentials\/alone\/[0-9a-f]{16}$/),
      }),
    ]);
    await client.close();
  });
});

describe('a key that changes', () => {
  const echo = { name: 'echo', arguments: { text: 'x' } };

  it('ends what was started with the old one, in the same session, and nobody else’s', async () => {
    await enter('alone', 'first-of-ada', ada);
    await enter('alone', 'key-of-grace', grace);
    const [mine, other] = await Promise.all([connectAs('alone', ada), connectAs('alone', grace)]);
    const [client] = mine.clients as [Caller];
    const [theirs] = other.clients as [Caller];
    const pids = async () =>
      Promise.all([client, theirs].map(async (one) => said(await one.callTool(echo)).pid));
    const before = await pids();
    await enter('alone', 'second-of-ada', ada);
    await vi.waitFor(async () => expect(await givenTo.alone?.(client)).toBe('second-of-ada'), 5_000);
    const after = await pids();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    await Promise.all([mine.close(), other.close()]);
  });

  it('and is removed by the operator is missing within a second; who can open URLs is asked for it', async () => {
    await enter('alone', 'of-ada', ada);
    const { client: plain, provider } = await connectSdkV2(urlOf('alone'), 'legacy', {
      scopes,
      person: ada,
    });
    await plain.close();
    const token = provider.tokens()?.access_token ?? '';
    const client = new ClientV2(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'legacy' } },
    );
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new TransportV2(new URL(urlOf('alone')), { requestInit }));
    expect(await givenTo.alone?.(client as unknown as Caller)).toBe('of-ada');
    await gate.administration.credentials.remove({ route: 'alone', email: ada.email });
    const refused = await vi.waitFor(async () => {
      const error = await client.callTool(echo).catch((failure: unknown) => failure);
      if (!(error instanceof UrlElicitationRequiredError)) throw error;
      return error;
    }, 5_000);
    expect(refused.elicitations).toEqual([
      expect.objectContaining({ mode: 'url', url: expect.stringContaining('/account/credentials/alone/') }),
    ]);
    await enter('alone', 'again-of-ada', ada);
    expect(await givenTo.alone?.(client as unknown as Caller)).toBe('again-of-ada');
    await client.close();
  });
});

it('a key stands in no database file, log line or error, not even where the program writes it to standard error (T-094, T-154, T-194)', async () => {
  const key = 'planted-key-4711';
  await enter('alone', key, ada);
  const { client } = await connectSdkV1(urlOf('alone'), { scopes, person: ada });
  await client.callTool({ name: 'mutter', arguments: { text: `my key is ${key}` } });
  await vi.waitFor(() => expect(gate.log.join('')).toContain('my key is [redacted]'));
  await client.callTool({ name: 'crash', arguments: {} }).catch(() => undefined);
  await client.close();
  const stored = await readDatabase(gate.folder);
  const audit = JSON.stringify(await gate.administration.audit.list({ limit: 1_000 }));
  for (const text of [stored, ...gate.log, audit]) expect(text).not.toContain(key);
  for (const value of ['of-ada-at', 'key-of-grace', 'second-of-ada', 'late-key'])
    for (const text of [stored, ...gate.log, audit]) expect(text).not.toContain(value);
});
