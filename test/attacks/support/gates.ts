import { McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import type { DoorName, Naming } from './hostile-messages.ts';
import type { Strictness } from './oracle.ts';
import type { Recorder } from './recorder.ts';

/** A server behind a gate with one set of guards. */
export interface Target {
  name: string;
  gatehouse: RunningGatehouse;
  /** Path before `/mcp`, `/sse` and `/rest`. */
  path: string;
  strictness: Strictness;
  naming: Naming;
  doors: readonly DoorName[];
  tokens: { mcp: string; sse: string; rest: string };
}

const scopes = { use: 'Use it.', admin: 'Do everything.' };
const guarded = {
  tools: { read_note: ['use'], delete_all: ['admin'] },
  prompts: { praise: ['use'], wicked_prompt: ['admin'] },
  resources: {
    'note://public/': ['use'],
    'file:///srv/open/': ['use'],
    'note://secret': ['admin'],
    'file:///srv/locked/': ['admin'],
  },
};
const closedRules = { ...guarded, otherwise: ['admin'] };
const openRules = { ...guarded, otherwise: [] as string[] };

/** Failures are what this is about, so no breaker may rest a backend. */
const breaker = { failures: 1000 };
const closedPolicy = {
  breaker,
  tools: { allow: ['read_note', 'write_note'] },
  prompts: { allow: ['praise'] },
  resources: { allow: ['note://public/*', 'file:///srv/open/*', 'note://{place}/{id}'] },
  readOnly: true,
  checkArguments: true,
  limits: [{ tools: '*', perMinute: 1_000_000 }],
};
const openPolicy = {
  breaker,
  tools: { deny: ['delete_all'] },
  prompts: { deny: ['wicked_prompt'] },
  resources: { deny: ['note://secret', 'note://secret/*', 'file:///srv/locked/*'] },
};

const closed: Strictness = { names: 'closed', checksArguments: false, readOnly: false };
const open: Strictness = { ...closed, names: 'open' };
const checked: Strictness = { ...closed, checksArguments: true, readOnly: true };

const ordinary: readonly DoorName[] = ['session', 'modern', 'sse', 'rest'];
const many = { times: 1_000_000 };
const common = {
  limits: {
    registrations: many,
    authorizations: many,
    loginsPerAddress: many,
    requests: many,
    toolCalls: { times: 0 },
  },
  mcp: { maxSessions: 100_000, maxSessionsPerPrincipal: 100_000, maxCallsPerPrincipal: 10_000 },
} satisfies Partial<GatehouseOptions>;

/** Rules and policies whose names have the key of their backend before them. */
function keyed(key: string) {
  const under = (rules: Record<string, string[]>, joint: string) =>
    Object.fromEntries(Object.entries(rules).map(([name, needed]) => [`${key}${joint}${name}`, needed]));
  return {
    tools: under(guarded.tools, '_'),
    prompts: under(guarded.prompts, '_'),
    resources: under(guarded.resources, '+'),
  };
}

function joined() {
  const parts = ['one', 'two', 'three'].map(keyed);
  return {
    tools: Object.assign({}, ...parts.map(({ tools }) => tools)) as Record<string, string[]>,
    prompts: Object.assign({}, ...parts.map(({ prompts }) => prompts)) as Record<string, string[]>,
    resources: Object.assign({}, ...parts.map(({ resources }) => resources)) as Record<string, string[]>,
    otherwise: ['admin'],
  };
}

function createOwnServer(recorder: Recorder, target: string, era: 'legacy' | 'modern'): McpServer {
  const server = new McpServer(
    { name: 'own', version: '1' },
    { supportedProtocolVersions: ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS] },
  );
  const note = (method: string, params: object): void =>
    recorder.note({ target, era, text: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
  for (const name of ['read_note', 'delete_all', 'write_note'])
    server.registerTool(name, { inputSchema: z.object({ text: z.string().optional() }) }, (given) => {
      note('tools/call', { name, arguments: given });
      return { content: [] };
    });
  for (const name of ['praise', 'wicked_prompt'])
    server.registerPrompt(name, {}, () => {
      note('prompts/get', { name });
      return { messages: [] };
    });
  for (const uri of ['note://public/1', 'note://secret/1', 'file:///srv/open/a', 'file:///srv/locked/a'])
    server.registerResource(uri, uri, {}, ({ href }) => {
      note('resources/read', { uri: href });
      return { contents: [{ uri: href, text: '' }] };
    });
  return server;
}

/** Starts all gates before the servers of a recorder, and gives what stands behind them, with tokens for `use` alone. */
export async function startGates(recorder: Recorder): Promise<{ targets: Target[]; stop(): Promise<void> }> {
  const url = (target: string, era: 'legacy' | 'modern') => ({ url: recorder.url(target, era) });
  const routeOf = (
    backend: object,
    scopeRules: object,
    policy: object,
  ): NonNullable<GatehouseOptions['routes']>[string] =>
    ({ backend, scopes, scopeRules, policy, baselineScopes: ['use'] }) as never;
  const any = { otherwise: [] };
  const routes = {
    'url-scopes': routeOf(url('url-scopes', 'legacy'), closedRules, { breaker }),
    'url-policy': routeOf(url('url-policy', 'legacy'), any, closedPolicy),
    'url-open': routeOf(url('url-open', 'legacy'), openRules, openPolicy),
    'modern-scopes': routeOf(url('modern-scopes', 'modern'), closedRules, { breaker }),
    'modern-policy': routeOf(url('modern-policy', 'modern'), any, closedPolicy),
    'modern-open': routeOf(url('modern-open', 'modern'), openRules, openPolicy),
    'stdio-scopes': routeOf({ ...recorder.program('stdio-scopes'), process: 'shared' }, closedRules, {
      breaker,
    }),
    'stdio-policy': routeOf({ ...recorder.program('stdio-policy'), process: 'account' }, any, closedPolicy),
    joined: {
      backends: {
        one: url('joined', 'legacy'),
        two: url('joined', 'modern'),
        three: { ...recorder.program('joined'), process: 'shared' },
      },
      scopes,
      scopeRules: joined(),
      policy: { breaker },
      baselineScopes: ['use'],
    } as never,
  };
  const own = { name: 'Own', scopes, scopeRules: closedRules, baselineScopes: ['use'] };
  const before = await startGatehouse({ ...common, routes });
  const stateless = await startGatehouse({
    ...common,
    mcp: { sessions: 'none' },
    routes: {
      'stateless-scopes': routeOf(url('stateless-scopes', 'legacy'), closedRules, { breaker }),
      'stateless-policy': routeOf(url('stateless-policy', 'modern'), any, closedPolicy),
      'stateless-open': routeOf(url('stateless-open', 'legacy'), openRules, openPolicy),
    },
  });
  const ownSdk = await startGatehouse({
    ...common,
    server: { ...own, create: ({ era }) => createOwnServer(recorder, 'own-sdk', era), sharing: 'shared' },
  });
  const ownRaw = await startGatehouse({
    ...common,
    server: { ...own, create: () => recorder.ownServer('own-raw'), sharing: 'each' },
  });

  const strict: Record<string, Strictness> = {
    'url-policy': checked,
    'modern-policy': checked,
    'stdio-policy': checked,
    'stateless-policy': checked,
    'url-open': open,
    'modern-open': open,
    'stateless-open': open,
  };
  const places = [
    ...Object.keys(routes).map((name) => ({ name, gatehouse: before, path: `/${name}`, doors: ordinary })),
    ...['stateless-scopes', 'stateless-policy', 'stateless-open'].map((name) => ({
      name,
      gatehouse: stateless,
      path: `/${name}`,
      doors: ['stateless', 'modern', 'rest'] as const,
    })),
    { name: 'own-sdk', gatehouse: ownSdk, path: '', doors: ordinary },
    { name: 'own-raw', gatehouse: ownRaw, path: '', doors: ordinary },
  ];
  const visitors = new Map<
    RunningGatehouse,
    { visitor: ReturnType<typeof createVisitor>; clientId: string }
  >();
  const targets: Target[] = [];
  for (const place of places) {
    let entered = visitors.get(place.gatehouse);
    if (!entered) {
      entered = { visitor: createVisitor(), clientId: (await register(place.gatehouse.url)).client_id };
      visitors.set(place.gatehouse, entered);
    }
    const tokenFor = async (end: string): Promise<string> => {
      const at = { ...place.gatehouse, mcpUrl: `${place.gatehouse.url}${place.path}${end}` };
      const { tokens } = await obtainTokens(at, { ...entered, scope: 'use', scopes: ['use'] });
      return tokens.access_token;
    };
    const tokens = { mcp: await tokenFor('/mcp'), sse: '', rest: await tokenFor('/rest') };
    if (place.doors.some((door) => door === 'sse')) tokens.sse = await tokenFor('/sse');
    targets.push({
      ...place,
      tokens,
      strictness: strict[place.name] ?? closed,
      naming: place.name === 'joined' ? { keys: ['one', 'two', 'three'] } : {},
    });
  }
  return {
    targets,
    async stop() {
      await Promise.all([before, stateless, ownSdk, ownRaw].map((gatehouse) => gatehouse.stop()));
    },
  };
}
