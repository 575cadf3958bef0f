import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, redeem, register, type Tokens } from '../../support/oauth.ts';
import { queryDatabase, storageSettings } from '../../support/test-storage.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import type { Front } from '../../support/upstreams/front.ts';
import { lin, type UpstreamPerson } from '../../support/upstreams/people.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { generousLimits, nodePort, serveAlongside } from '../token/subject.ts';

/** A stand-in, as far as every one of them goes. */
export interface StandIn extends Front {
  settings(over: object): object;
  allow(callbackUrl: string, backchannelLogoutUrl?: string): void;
}

/** A gatehouse, and an upstream called "work" that its people come from. */
export interface Scene<U extends StandIn> {
  gatehouse: RunningGatehouse;
  work: U;
  /** Another process that serves the same installation. */
  serveAnother(): Promise<Another>;
  stop(): Promise<void>;
}

/** One more process. */
export interface Another {
  url: string;
  mcpUrl: string;
  /** What it wrote. */
  log(): string;
  stop(): Promise<void>;
}

/** A server with a tool that does not end by itself while a test looks. */
export function createPatientServer(): McpServer {
  const server = new McpServer({ name: 'patient', version: '1' });
  server.registerTool('wait', {}, async (_context) => {
    await new Promise((resolve) => setTimeout(resolve, 20_000).unref());
    return { content: [{ type: 'text', text: 'waited to the end' }] };
  });
  server.registerTool('greet', {}, async () => ({ content: [{ type: 'text', text: 'hello' }] }));
  return server;
}

/**
 * Starts both.
 * @param over settings of the upstream
 * @param more settings of the gatehouse
 */
export async function startScene<U extends StandIn>(
  work: U,
  over: object = {},
  more: Partial<GatehouseOptions> = {},
): Promise<Scene<U>> {
  const upstreams = { work: work.settings({ accounts: { create: true }, ...over }) };
  const { server: _server, ...plain } = more;
  const dangerously = { upstreamsOverHttp: true };
  const gatehouse = await startGatehouse({
    limits: generousLimits,
    server: { name: 'Patient', create: createPatientServer },
    dangerously,
    upstreams,
    ...nodePort,
    ...more,
  } as GatehouseOptions);
  const place = `${gatehouse.url}/upstream/work`;
  work.allow(`${place}/callback`, `${place}/backchannel-logout`);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bond-'));
  return {
    gatehouse,
    work,
    async serveAnother() {
      const config = join(folder, 'gatehouse.json');
      const storage = await storageSettings(gatehouse.folder);
      await writeFile(
        config,
        JSON.stringify({
          limits: generousLimits,
          ...nodePort,
          ...plain,
          dangerously,
          upstreams,
          ...storage,
        }),
      );
      const { url, mcpUrl, program } = await serveAlongside(gatehouse, config);
      return {
        url,
        mcpUrl,
        log: () => `${program.written.stdout}${program.written.stderr}`,
        stop: async () => void (await program.stop()),
      };
    },
    async stop() {
      await gatehouse.stop();
      await work.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Somebody who logged in through the upstream, with what their client got. */
export interface Arrived {
  clientId: string;
  tokens: Tokens;
  visitor: Visitor;
}

/** The whole way: registration, our approval, the upstream's pages, callback, redemption. */
export async function arrive(
  { gatehouse }: Pick<Scene<StandIn>, 'gatehouse'>,
  {
    who = lin,
    scope = 'mcp',
    resource = gatehouse.mcpUrl,
    visitor = createVisitor(),
    walker = createWalker(),
  }: {
    who?: UpstreamPerson;
    scope?: string;
    resource?: string;
    visitor?: Visitor;
    walker?: ReturnType<typeof createWalker>;
  } = {},
): Promise<Arrived> {
  const { client_id: clientId } = await register(gatehouse.url);
  const flow = authorization(gatehouse, clientId, { scope, resource });
  const login = await visitor.open(flow.url);
  const approval = login.html.includes('/upstream"')
    ? await visitor.submit(login, '/upstream', [['upstream', 'work']])
    : login;
  const { response, html } = await visitor.submit(approval, '/approve', [
    ['decision', 'allow'],
    ...scope.split(' ').map((each): [string, string] => ['scope', each]),
  ]);
  const there = response.headers.get('location');
  if (!there) throw new Error(`no redirect to the upstream: ${response.status} ${html.slice(0, 200)}`);
  const back = await visitor.open((await walker.walk(there, who)).href);
  const location = back.response.headers.get('location');
  if (!location) {
    const told = gatehouse.log.slice(-3);
    throw new Error(`no redirect to the client: ${back.response.status} at ${back.url}\n${told.join('')}`);
  }
  const answer = await redeem(gatehouse.url, flow, new URL(location).searchParams.get('code') ?? '');
  if (answer.status !== 200) throw new Error(`redemption: ${answer.status} ${await answer.text()}`);
  return { clientId, visitor, tokens: (await answer.json()) as Tokens };
}

/** Sends a message to an MCP endpoint. */
export function send(
  mcpUrl: string,
  { access_token: token }: Pick<Tokens, 'access_token'>,
  message: object | undefined,
  session?: string,
): Promise<Response> {
  return fetch(mcpUrl, {
    method: message === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
    ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) }),
  });
}

/** What is open for somebody: a session with a stream, and with a call that runs where the server has one. */
export interface Open {
  session: string;
  /** Resolves when all of it has ended, with when the last of it did, by `performance.now()`. */
  ended: Promise<number>;
}

/** Opens a session and its stream, and begins a call that runs where `calls` says so. */
export async function openAll(mcpUrl: string, tokens: Tokens, { calls = true } = {}): Promise<Open> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const begun = await send(mcpUrl, tokens, { method: 'initialize', params });
  if (begun.status !== 200) throw new Error(`initialize: ${begun.status} ${await begun.text()}`);
  await begun.text();
  const session = begun.headers.get('mcp-session-id') ?? '';
  const stream = await send(mcpUrl, tokens, undefined, session);
  if (stream.status !== 200) throw new Error(`no stream: ${stream.status}`);
  const over = (response: Response): Promise<number> =>
    response.text().then(
      () => performance.now(),
      () => performance.now(),
    );
  const running = calls
    ? send(mcpUrl, tokens, { id: 2, method: 'tools/call', params: { name: 'wait' } }, session).then(over)
    : undefined;
  const ended = Promise.all([over(stream), running ?? 0]).then((times) => Math.max(...times));
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { session, ended };
}

/** The only link of an installation to the upstream. */
export async function onlyLink({ gatehouse }: Pick<Scene<StandIn>, 'gatehouse'>) {
  const [link, ...more] = await gatehouse.storage.upstreams.list('work', { limit: 10 });
  if (!link || more.length > 0) throw new Error(`not one link: ${more.length}`);
  return link;
}

/** Has what is known of all links be as old as this: their rows, in seconds. */
export async function age(
  { gatehouse }: Pick<Scene<StandIn>, 'gatehouse'>,
  change: { provedAgo?: number; expiredAgo?: number; unreachableFor?: number },
): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const { provedAgo, expiredAgo, unreachableFor } = change;
  const sets = [
    provedAgo === undefined ? [] : `proved_at = ${now - provedAgo}`,
    expiredAgo === undefined ? [] : `expires_at = ${now - expiredAgo}`,
    unreachableFor === undefined ? [] : `unreachable_since = ${now - unreachableFor}`,
  ].flat();
  await queryDatabase(gatehouse.folder, `UPDATE upstream_links SET ${sets.join(', ')}`);
}
