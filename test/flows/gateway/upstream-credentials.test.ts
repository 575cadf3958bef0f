// Tokens of a real upstream as credentials of a backend, through src/gateway/credentials/upstream-value.ts,
// src/gateway/credentials/create-credentials.ts and src/gateway/steps/index.ts: people log in at an OpenID
// provider, and the MCP server behind the gate asks it whose each token is.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { readDatabase } from '../../support/test-storage.ts';
import { apiPath, type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar } from '../../support/upstreams/people.ts';
import { openAccount } from '../account/support/account.ts';
import { goThrough } from '../account/support/elsewhere.ts';
import { age, arrive, type Scene, startScene } from '../bond/subject.ts';
import { listen } from './support/elsewhere.ts';

const revisions = ['2025-11-25', '2026-07-28'] as const;

/** Serves an MCP server that lets nobody in whose token the upstream does not know. */
async function serveGuarded(work: OpenIdUpstream) {
  const refused = new Set<string>();
  const shown: string[] = [];
  const { origin, stop } = await listen(async (request, response) => {
    const { authorization = '' } = request.headers;
    shown.push(authorization);
    const asked = await fetch(`${work.url}${apiPath}`, { headers: { authorization } });
    if (refused.has(authorization) || !asked.ok) return void response.writeHead(401).end();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { sub } = (await asked.json()) as { sub: string };
    const server = new McpServer({ name: 'guarded', version: '1' });
    server.registerTool('who', {}, async () => ({ content: [{ type: 'text', text: sub }] }));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
    return undefined;
  });
  onTestFinished(stop);
  return { url: `${origin}/mcp`, refused, shown };
}

interface Guarded extends Scene<OpenIdUpstream> {
  mcpUrl: string;
  /** Values of the header that the backend does not accept. */
  refused: Set<string>;
  /** Values of the header that it was shown. */
  shown: string[];
}

async function start(over: object = {}): Promise<Guarded> {
  const work = await startOpenIdUpstream();
  const { url, refused, shown } = await serveGuarded(work);
  const credentials = {
    token: { from: { upstream: 'work' }, as: { header: 'authorization', prefix: 'Bearer ' } },
  };
  const backend = { url, transport: 'http' };
  const scene = await startScene(work, over, {
    server: undefined,
    routes: { tools: { name: 'Guarded', backend, credentials } },
  } as unknown as GatehouseOptions);
  onTestFinished(scene.stop);
  return { ...scene, mcpUrl: `${scene.gatehouse.url}/tools/mcp`, refused, shown };
}

async function connect(
  { mcpUrl }: Guarded,
  { access_token: token }: { access_token: string },
  revision: (typeof revisions)[number] = '2025-11-25',
): Promise<Client> {
  const era =
    revision === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: 'client', version: '1' }, era);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

async function who(client: Client): Promise<string> {
  const { content } = await client.callTool({ name: 'who' });
  const [first] = content as { text?: string }[];
  return first?.text ?? '';
}

/** The error a call is answered with. */
async function refusal(client: Client): Promise<{ message: string; data: Record<string, string> }> {
  const answer = await who(client).catch((error: unknown) => error);
  if (!(answer instanceof Error)) throw new Error(`it was answered: ${answer}`);
  return answer as Error & { data: Record<string, string> };
}

const logIn = (scene: Guarded, person = lin) => arrive(scene, { who: person, resource: scene.mcpUrl });

describe('a backend that is given the token of an upstream', () => {
  it('gets that of whoever calls, never another’s, and nothing of their own; it stands nowhere in plain text (T-092, T-094, T-158, A7-04)', async () => {
    const scene = await start();
    const people = await Promise.all(
      [lin, omar].map(async (person) => ({ person, ...(await logIn(scene, person)) })),
    );
    const clients = await Promise.all(
      people.flatMap(({ person, tokens }) =>
        revisions.map(async (revision) => ({ person, client: await connect(scene, tokens, revision) })),
      ),
    );
    const calls = Array.from({ length: 20 }, () => clients).flat();
    const answers = await Promise.all(calls.map(({ client }) => who(client)));
    expect(answers).toEqual(calls.map(({ person }) => person.sub));
    const recorded = () => scene.gatehouse.storage.calls.list({}, 500);
    await expect.poll(async () => (await recorded()).length, { timeout: 10_000 }).toBe(calls.length);
    for (const row of await recorded())
      expect(row).toMatchObject({ credential: 'work', generation: expect.any(Number) });

    const { gatehouse, work, shown } = scene;
    for (const { tokens } of people) expect(shown.join()).not.toContain(tokens.access_token);
    expect(work.issued.length).toBeGreaterThan(1);
    const stored = await readDatabase(gatehouse.folder);
    const audit = JSON.stringify(await gatehouse.administration.audit.list({ limit: 1_000 }));
    for (const token of work.issued)
      for (const text of [stored, gatehouse.log.join(''), audit]) expect(text).not.toContain(token);
  });

  it('gets a renewed one where it has expired, renewed once for all calls (T-090)', async () => {
    const scene = await start();
    const { tokens } = await logIn(scene);
    const client = await connect(scene, tokens);
    expect(await who(client)).toBe(lin.sub);
    await age(scene, { expiredAgo: 1 });
    const before = new Set(scene.shown);
    expect(await Promise.all(Array.from({ length: 20 }, () => who(client)))).toEqual(Array(20).fill(lin.sub));
    expect(scene.work.asked.refresh_token).toBe(1);
    expect([...new Set(scene.shown)].filter((value) => !before.has(value))).toHaveLength(1);
  });

  it.each(revisions)(
    'and does not accept it is asked again with a renewed one, once for all calls: %s (T-090)',
    async (revision) => {
      const scene = await start();
      const { tokens } = await logIn(scene);
      const client = await connect(scene, tokens, revision);
      expect(await who(client)).toBe(lin.sub);
      for (const value of scene.shown) scene.refused.add(value);
      expect(await Promise.all(Array.from({ length: 20 }, () => who(client)))).toEqual(
        Array(20).fill(lin.sub),
      );
      expect(scene.work.asked.refresh_token).toBe(1);
      expect(scene.gatehouse.log.join('')).not.toContain(scene.work.issued.at(-1));
    },
  );

  it('and accepts no renewed one either is not asked on and on: who calls is told where to link again', async () => {
    const scene = await start();
    const { tokens } = await logIn(scene);
    const client = await connect(scene, tokens);
    expect(await who(client)).toBe(lin.sub);
    scene.refused.has = () => true;
    for (let tries = 0; tries < 3; tries++) {
      const { message, data } = await refusal(client);
      expect(message).toContain('The MCP server Guarded does not accept your account at');
      expect(data).toMatchObject({
        reason: 'credential_refused',
        url: expect.stringMatching(/\/account\/upstreams\/work\/link\/[0-9a-f]{16}$/),
      });
    }
    expect(scene.work.asked.refresh_token).toBe(1);
  });
});

describe('a person who has revoked at the upstream what the backend is given', () => {
  const over = {
    login: false,
    scopes: ['openid', 'profile', 'email', 'offline_access'],
    authorizationParameters: { prompt: 'consent' },
  };

  it.each(revisions)(
    'is told to link it again, and then the same client goes on: %s (C7-04)',
    async (revision) => {
      const scene = await start(over);
      const { gatehouse, work } = scene;
      const { tokens } = await obtainTokens(gatehouse, { scope: 'mcp', scopes: ['mcp'] });
      const page = '/upstreams/work/link';
      const { visitor, ...first } = await openAccount(gatehouse, { page });
      await goThrough(visitor, first, '/link', lin);
      const client = await connect(scene, tokens, revision);
      expect(await who(client)).toBe(lin.sub);

      work.revokeTokensOf(lin.sub);
      const { message, data } = await refusal(client);
      expect(message).toContain('The MCP server Guarded cannot be used yet.');
      expect(data.reason).toBe('credential_missing');
      const again = await openAccount(gatehouse, {
        page: new URL(data.url ?? '').pathname.slice(8),
        visitor,
      });
      await goThrough(visitor, again, '/link', lin);
      expect(await who(client)).toBe(lin.sub);
    },
  );

  it('and who logs in through it is logged out: their client is sent to log in again (T-090)', async () => {
    const scene = await start();
    const { tokens } = await logIn(scene);
    const client = await connect(scene, tokens);
    expect(await who(client)).toBe(lin.sub);
    scene.work.revokeTokensOf(lin.sub);
    await refusal(client);
    const answer = await fetch(scene.mcpUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(answer.status).toBe(401);
    const { tokens: later } = await logIn(scene);
    expect(await who(await connect(scene, later))).toBe(lin.sub);
  });
});
