// Tools that call APIs of real upstreams as the people who called them: src/mcp/upstreams/, src/upstream/tools/ and
// src/composition/upstreams.ts, from the login of an MCP client to the answer of the API.

import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type GatehouseOptions, upstream } from '../../../src/index.ts';
import { obtainTokens, type Tokens } from '../../support/oauth.ts';
import { faults } from '../../support/upstreams/front.ts';
import { startGithubLikeUpstream } from '../../support/upstreams/github-like.ts';
import { googleApiPath, startGoogleLikeUpstream } from '../../support/upstreams/google-like.ts';
import { apiPath, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar } from '../../support/upstreams/people.ts';
import { openAccount } from '../account/support/account.ts';
import { goThrough } from '../account/support/elsewhere.ts';
import { age, arrive, onlyLink, type Scene, type StandIn, startScene } from '../bond/subject.ts';

const supportedProtocolVersions = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

/** One server for everybody; its tools ask the API who the caller is. */
function serverOf(apiUrl: string): NonNullable<GatehouseOptions['server']> {
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  const create = (): McpServer => {
    const server = new McpServer({ name: 'who', version: '1' }, { supportedProtocolVersions });
    server.registerTool('who', {}, async (context) =>
      text(await (await upstream(context, 'work').fetch(apiUrl)).text()),
    );
    server.registerTool('files', {}, async (context) => {
      const work = upstream(context, 'work', { scopes: ['files:read'] });
      return text(await (await work.fetch(apiUrl)).text());
    });
    return server;
  };
  return { name: 'Who', create, sharing: 'shared' };
}

/** A gatehouse whose tools call the API of an upstream. */
async function start<U extends StandIn>(work: U, path: string, over: object = {}): Promise<Scene<U>> {
  const scene = await startScene(
    work,
    { apiHosts: [new URL(work.url).host], ...over },
    { server: serverOf(`${work.url}${path}`) },
  );
  onTestFinished(scene.stop);
  return scene;
}

/** Connects a client of the SDK. @param revision pinned where it is 2026-07-28 */
async function connect(
  { gatehouse }: Pick<Scene<StandIn>, 'gatehouse'>,
  { access_token: token }: Tokens,
  revision: '2025-11-25' | '2026-07-28' = '2025-11-25',
  capabilities: ClientCapabilities = {},
): Promise<Client> {
  const era =
    revision === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: 'client', version: '1' }, { capabilities, ...era });
  if (capabilities.elicitation) client.setRequestHandler('elicitation/create', () => ({ action: 'accept' }));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(gatehouse.mcpUrl), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

/** What a tool says: the text of its result. */
async function call(client: Client, name = 'who'): Promise<string> {
  const { content } = await client.callTool({ name });
  const [first] = content as { text?: string }[];
  return first?.text ?? '';
}

describe('a tool that calls the API of an upstream', () => {
  it.each([
    ['OpenID Connect', startOpenIdUpstream, apiPath, `"sub":"${lin.sub}"`],
    ['what GitHub does', startGithubLikeUpstream, '/user', `"id":${lin.sub}`],
    ['what Google does', startGoogleLikeUpstream, googleApiPath, `"sub":"${lin.sub}"`],
  ] as const)(
    'is the person who logged in there: %s (A10-01)',
    async (_kind, startUpstream, path, expected) => {
      const scene = await start<StandIn & { issued: readonly string[] }>(await startUpstream(), path);
      const { tokens } = await arrive(scene);
      const heard: string[] = [];
      for (const revision of ['2025-11-25', '2026-07-28'] as const)
        heard.push(await call(await connect(scene, tokens, revision)));
      expect(heard).toEqual([expect.stringContaining(expected), expect.stringContaining(expected)]);
      const seen = heard.join() + scene.gatehouse.log.join();
      for (const token of scene.work.issued) expect(seen).not.toContain(token);
    },
  );

  it('is never somebody else, however many call the one server at once (T-092)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath);
    const people = [lin, omar];
    const clients = await Promise.all(
      people.flatMap((who) =>
        (['2025-11-25', '2026-07-28'] as const).map(async (revision) => ({
          who,
          client: await connect(scene, (await arrive(scene, { who })).tokens, revision),
        })),
      ),
    );
    const calls = Array.from({ length: 50 }, () => clients).flat();
    const answers = await Promise.all(calls.map(({ client }) => call(client)));
    expect(answers.map((answer) => JSON.parse(answer).sub)).toEqual(calls.map(({ who }) => who.sub));
  });

  it('has its token renewed once for all who ask, where it has expired or the API refuses it (T-090)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath);
    const { tokens } = await arrive(scene);
    const client = await connect(scene, tokens);
    await age(scene, { expiredAgo: 1 });
    const many = () => Promise.all(Array.from({ length: 50 }, () => call(client)));
    for (const answer of await many()) expect(answer).toContain(lin.sub);
    expect(scene.work.asked.refresh_token).toBe(1);

    const refused = new Set(scene.work.issued.map((token) => `Bearer ${token}`));
    scene.work.fault(apiPath, ({ headers }, response) => {
      if (refused.has(headers.authorization ?? '')) response.writeHead(401).end();
      else response.end(JSON.stringify({ sub: lin.sub }));
    });
    for (const answer of await many()) expect(answer).toContain(lin.sub);
    expect(scene.work.asked.refresh_token).toBe(2);
    expect((await onlyLink(scene)).generation).toBe(3);
  });

  it('says that the API does not answer, and nobody is logged out (T-090)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath);
    const client = await connect(scene, (await arrive(scene)).tokens);
    scene.work.fault(apiPath, faults.page(503));
    expect(await call(client)).not.toContain(lin.sub);
    await scene.work.down();
    expect(await call(client)).toMatch(/could not be called/);
    scene.work.behave();
    await scene.work.up();
    expect(await call(client)).toContain(lin.sub);
  });

  it('takes the token of the upstream there, and nothing of what the client sent (T-105)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath);
    const { tokens } = await arrive(scene);
    const sent: string[][] = [];
    scene.work.fault(apiPath, ({ rawHeaders }, response) => {
      sent.push(rawHeaders);
      response.end();
    });
    await call(await connect(scene, tokens, '2025-11-25'));
    await call(await connect(scene, tokens, '2026-07-28'));
    expect(sent).toHaveLength(2);
    for (const headers of sent) {
      const bearer = headers.find((value) => value.startsWith('Bearer '))?.slice('Bearer '.length);
      expect(scene.work.issued).toContain(bearer);
      expect(headers.join()).not.toContain(tokens.access_token);
      expect(headers.join().toLowerCase()).not.toContain('mcp-');
    }
  });

  it('calls no host but those of the settings, and what it says has no token in it (T-093)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath, { apiHosts: [] });
    const answer = await call(await connect(scene, (await arrive(scene)).tokens));
    expect(answer).toContain('the operator can add it to upstreams.work.apiHosts');
    expect(scene.work.count(apiPath)).toBe(0);
  });
});

/** The path below `/account` of the page a person is sent to. It opens nothing by itself. */
function pageOf({ gatehouse }: Pick<Scene<StandIn>, 'gatehouse'>, url = ''): string {
  const start = `${gatehouse.url}/account`;
  expect(url).toMatch(/\/account\/upstreams\/work\/link\/[0-9a-f]{16}$/);
  expect(url.startsWith(start)).toBe(true);
  return url.slice(start.length);
}

describe('a person who has not linked the upstream', () => {
  const over = { login: false, scopes: ['openid', 'profile', 'email', 'offline_access'] };
  const prompt = { authorizationParameters: { prompt: 'consent' } };

  it('is asked to open the page by their client, which is told when it is done; the call sent again goes well (C7-04)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath, { ...over, ...prompt });
    const { gatehouse } = scene;
    const { tokens } = await obtainTokens(gatehouse, { scope: 'mcp', scopes: ['mcp'] });
    const client = await connect(scene, tokens, '2025-11-25', { elicitation: { url: {} } });
    const completed: string[] = [];
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
      completed.push(params.elicitationId);
    });
    const error = await client.callTool({ name: 'who' }).catch((refused: unknown) => refused);
    if (!(error instanceof UrlElicitationRequiredError)) throw error;
    const [asked] = error.elicitations;
    const page = pageOf(scene, asked?.url);
    const { visitor, ...link } = await openAccount(gatehouse, { page });
    const linked = await goThrough(visitor, link, '/link', lin);
    expect(linked.url).toContain('/account/upstreams?linked=work');
    await vi.waitFor(() => expect(completed).toEqual([asked?.elicitationId]), 3_000);
    expect(await call(client)).toContain(lin.sub);
  });

  it('links while the retry of the call waits: 2026-07-28 (C4-01)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath, { ...over, ...prompt });
    const { gatehouse } = scene;
    const { tokens } = await obtainTokens(gatehouse, { scope: 'mcp', scopes: ['mcp'] });
    const client = await connect(scene, tokens, '2026-07-28', { elicitation: { url: {} } });
    let linking: Promise<unknown> | undefined;
    client.setRequestHandler('elicitation/create', ({ params }) => {
      const page = pageOf(scene, (params as { url?: string }).url);
      linking = openAccount(gatehouse, { page }).then(({ visitor, ...link }) =>
        goThrough(visitor, link, '/link', lin),
      );
      return { action: 'accept' };
    });
    expect(await call(client)).toContain(lin.sub);
    await linking;
  });

  it('gives more where a tool needs more: the page asks for it, and then the call goes well', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath, { ...over, ...prompt });
    const { gatehouse } = scene;
    const { tokens } = await obtainTokens(gatehouse, { scope: 'mcp', scopes: ['mcp'] });
    const client = await connect(scene, tokens);
    const page = '/upstreams/work/link';
    const first = await openAccount(gatehouse, { page });
    expect(first.html).not.toContain('files:read');
    await goThrough(first.visitor, first, '/link', lin);
    expect(await call(client)).toContain(lin.sub);

    const lacking = await call(client, 'files');
    expect(lacking).toContain('needs more from your account');
    const [, url] = /Open (\S+) in a browser/.exec(lacking) ?? [];
    const second = await openAccount(gatehouse, { page: pageOf(scene, url), visitor: first.visitor });
    expect(second.html).toContain('files:read');
    await goThrough(first.visitor, second, '/link', lin);
    expect(JSON.parse(await call(client, 'files'))).toMatchObject({
      sub: lin.sub,
      scope: expect.stringContaining('files:read'),
    });
  });

  it('links nothing for somebody else who opens the page: they are told whom it was meant for (C7-04, T-089)', async () => {
    const scene = await start(await startOpenIdUpstream(), apiPath, { ...over, ...prompt });
    const { gatehouse } = scene;
    const { tokens } = await obtainTokens(gatehouse, { scope: 'mcp', scopes: ['mcp'] });
    const [, url] = /Open (\S+) in a browser/.exec(await call(await connect(scene, tokens))) ?? [];
    const page = pageOf(scene, url);
    const bob = { email: 'bob@example.com', password: 'another horse, another staple' };
    await gatehouse.administration.accounts.add(bob.email, bob.password);
    const opened = await openAccount(gatehouse, { page, person: bob });
    expect(opened.response.status).toBe(403);
    expect(opened.url).toBe(url);
    expect(opened.html).toContain('for another account, not for the one');
    expect(opened.html).not.toContain('upstreams/work/link"');
    expect(await gatehouse.storage.upstreams.list('work', { limit: 10 })).toEqual([]);
  });
});
