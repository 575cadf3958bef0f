// What backends learn about their callers, through src/gateway/credentials/caller-values.ts and
// src/composition/route-backend.ts: real logins at an upstream, real programs and servers, assertions verified with the
// keys at /jwks.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { nodeProgram } from '../../support/node-program.ts';
import { authorization, register } from '../../support/oauth.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar, type UpstreamPerson } from '../../support/upstreams/people.ts';
import { createVisitor } from '../../support/visitor.ts';
import { arrive, type Scene, startScene } from '../bond/subject.ts';
import { type Elsewhere, serveEventStream, serveStreamable } from './support/elsewhere.ts';
import { type ModernElsewhere, serveModern } from './support/modern-elsewhere.ts';
import { serveRest } from './support/rest-elsewhere.ts';

const older = nodeProgram('test/support/backend/server.ts', 'sound');
const modern = nodeProgram('test/support/backend/asking-program.ts', 'modern');
const member = 'mcp-gatehouse/caller-assertion';
const env = { WHO: 'email', CALLER_GROUPS: 'groups', CALLER_ROLES: 'roles' };
const headers = { 'X-Who': 'email', 'x-name': 'name', 'x-groups': 'groups', 'x-roles': 'roles' };
const remote = { headers, assertion: true };

let scene: Scene<OpenIdUpstream>;
let http: Elsewhere;
let sse: Elsewhere;
let rest: Awaited<ReturnType<typeof serveRest>>;
let newer: ModernElsewhere;
const tokens = new Map<string, string>();

beforeAll(async () => {
  [http, sse, rest, newer] = await Promise.all([
    serveStreamable(),
    serveEventStream(),
    serveRest(),
    serveModern(),
  ]);
  scene = await startScene(
    await startOpenIdUpstream(),
    { scopes: ['openid', 'profile', 'email', 'groups'] },
    {
      server: undefined,
      routes: {
        alone: { backend: { ...older, caller: { env, assertion: true } } },
        joint: {
          backend: { ...older, process: 'account', caller: { env: { WHO: 'email' }, assertion: true } },
        },
        everyone: { backend: { ...older, process: 'shared', caller: { assertion: true } } },
        program: { backend: { ...modern, caller: { assertion: true } } },
        untold: { backend: { ...older, process: 'shared' } },
        http: { backend: { url: http.url, transport: 'http', caller: remote } },
        sse: { backend: { url: sse.url, transport: 'sse', caller: remote } },
        rest: { backend: { url: rest.url, transport: 'rest', caller: remote } },
        newer: { backend: { url: newer.url, transport: 'http', caller: remote }, cache: { keep: true } },
      },
    } as unknown as GatehouseOptions,
  );
});
afterAll(async () => {
  await scene.stop();
  await Promise.all([http.stop(), sse.stop(), rest.stop(), newer.stop()]);
});

const urlOf = (route: string): string => `${scene.gatehouse.url}/${route}/mcp`;

async function tokenOf(route: string, who: UpstreamPerson): Promise<string> {
  const key = `${route} ${who.sub}`;
  const known = tokens.get(key);
  if (known !== undefined) return known;
  const { tokens: got } = await arrive(scene, { who, resource: urlOf(route) });
  tokens.set(key, got.access_token);
  return got.access_token;
}

/** Connects as somebody whose client tries to pass for somebody else, in headers and in `_meta`. */
async function connectAs(route: string, who: UpstreamPerson, revision: string) {
  const era =
    revision === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: revision } } }
      : { supportedProtocolVersions: [revision] };
  const client = new Client({ name: 'client', version: '1' }, era);
  const requestInit = {
    headers: {
      authorization: `Bearer ${await tokenOf(route, who)}`,
      'x-who': 'forged',
      'x-roles': 'forged',
      'x-gatehouse-assertion': 'forged',
    },
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(urlOf(route)), { requestInit }));
  const look = async (name: string): Promise<Record<'env' | 'headers' | 'meta', Record<string, string>>> => {
    const { content } = await client.callTool({ name, arguments: {}, _meta: { [member]: 'forged' } });
    const [first] = content as { text: string }[];
    expect(first?.text).not.toContain('forged');
    return JSON.parse(first?.text ?? '');
  };
  return { look, close: () => client.close() };
}

/** Verifies an assertion as its backend would. */
async function verify(assertion: string | undefined, audience: string) {
  const keys = createRemoteJWKSet(new URL(`${scene.gatehouse.url}/jwks`));
  const { payload } = await jwtVerify(assertion ?? '', keys, {
    issuer: scene.gatehouse.url,
    audience,
    typ: 'caller+jwt',
    algorithms: ['ES256'],
    requiredClaims: ['sub', 'client_id', 'exp', 'jti'],
  });
  expect(Number(payload.exp) - Number(payload.iat)).toBeLessThanOrEqual(300);
  return payload;
}

/** Looks as two people at once, several times each; gives what each call showed. */
async function lookAsBoth(route: string, tool: string, revision: string) {
  const people = await Promise.all(
    [lin, omar].map(async (who) => ({ who, ...(await connectAs(route, who, revision)) })),
  );
  const looks = people.flatMap(({ who, look }) => Array.from({ length: 4 }, () => ({ who, look })));
  const seen = await Promise.all(looks.map(async ({ who, look }) => ({ who, seen: await look(tool) })));
  await Promise.all(people.map(({ close }) => close()));
  return seen;
}

const revisions = ['2025-11-25', '2026-07-28'] as const;

describe.each(revisions)('a caller of %s is told of', (revision) => {
  it.each([
    ['alone', 'surroundings'],
    ['joint', 'surroundings'],
    ['everyone', 'surroundings'],
    ['program', 'look'],
  ])('to a program by an assertion in each request that no client can forge: %s', async (route, tool) => {
    const ids = new Set<string | undefined>();
    for (const { who, seen } of await lookAsBoth(route, tool, revision)) {
      const claims = await verify(seen.meta[member], urlOf(route));
      expect(claims).toMatchObject({
        email: who.email,
        email_verified: true,
        name: who.name,
        groups: who.groups,
        amr: ['fed'],
        upstream: { name: 'work', iss: scene.work.url, sub: who.sub },
      });
      expect(claims).not.toHaveProperty('roles');
      ids.add(claims.jti);
    }
    expect(ids.size).toBe(8);
  });

  it.each([
    ['http', () => http.url, 'seen'],
    ['sse', () => sse.url, 'seen'],
    ['rest', () => rest.url, 'seen'],
    ['newer', () => newer.url, 'look'],
  ])('to a server by headers and an assertion that no client can forge: %s', async (route, url, tool) => {
    const ids = new Set<string | undefined>();
    for (const { who, seen } of await lookAsBoth(route, tool, revision)) {
      const claims = await verify(seen.headers['x-gatehouse-assertion'], url());
      expect(claims).toMatchObject({ email: who.email, groups: who.groups });
      expect(seen.headers).toMatchObject({
        'x-who': who.email,
        'x-name': who.name,
        'x-groups': JSON.stringify(who.groups),
      });
      expect(seen.headers).not.toHaveProperty('x-roles');
      expect(seen.meta).not.toHaveProperty(member);
      ids.add(claims.jti);
    }
    expect(ids.size).toBe(8);
  });

  it('to a process by variables of its own account', async () => {
    for (const { who, seen } of await lookAsBoth('alone', 'surroundings', revision)) {
      expect(seen.env).toMatchObject({ WHO: who.email, CALLER_GROUPS: JSON.stringify(who.groups) });
      expect(seen.env).not.toHaveProperty('CALLER_ROLES');
    }
    for (const { who, seen } of await lookAsBoth('joint', 'surroundings', revision))
      expect(seen.env).toMatchObject({ WHO: who.email });
  });

  it('not at all to a backend whose operator did not say so, and a forged assertion does not reach it', async () => {
    for (const { who, seen } of await lookAsBoth('untold', 'surroundings', revision)) {
      expect(seen.meta).not.toHaveProperty(member);
      expect(JSON.stringify(seen)).not.toContain(who.email);
    }
  });
});

it.each([
  ['http', 'learns your e-mail address, your name, your groups and roles at '],
  ['untold', undefined],
])('The page before the upstream says what the server learns: %s', async (route, words) => {
  const { client_id: clientId } = await register(scene.gatehouse.url);
  const { url } = authorization({ ...scene.gatehouse, mcpUrl: urlOf(route) }, clientId, { scope: 'mcp' });
  const visitor = createVisitor();
  const page = await visitor.open(url);
  const { html } = page.html.includes('/upstream"')
    ? await visitor.submit(page, '/upstream', [['upstream', 'work']])
    : page;
  expect(html).toContain('name="decision"');
  if (words === undefined) expect(html).not.toContain('learns your');
  else expect(html).toContain(words);
});

it('No backend ever gets a token of its caller, and an assertion opens nothing here (A7-04)', async () => {
  const { look, close } = await connectAs('http', lin, '2025-11-25');
  const { headers: seen } = await look('seen');
  await close();
  const assertion = seen['x-gatehouse-assertion'] ?? '';
  for (const route of ['http', 'everyone']) {
    const { status } = await fetch(urlOf(route), {
      method: 'POST',
      headers: { authorization: `Bearer ${assertion}` },
    });
    expect(status).toBe(401);
  }
  const received = JSON.stringify([http, sse, rest, newer].map((server) => server.received));
  for (const token of tokens.values()) expect(received).not.toContain(token);
  expect(scene.gatehouse.log.join()).not.toContain(assertion);
});

it('A list that a server calls public is asked for each caller, because it knows who asks (T-158, C6-08)', async () => {
  const listed = () => newer.received.filter(({ method }) => method === 'tools/list');
  const before = listed().length;
  for (const who of [lin, omar]) {
    tokens.delete(`newer ${who.sub}`);
    const client = new Client(
      { name: 'client', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const requestInit = { headers: { authorization: `Bearer ${await tokenOf('newer', who)}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(urlOf('newer')), { requestInit }));
    await client.listTools();
    await client.listTools();
    await client.close();
  }
  const whose = listed()
    .slice(before)
    .map((one) => one.headers['x-who']);
  expect(whose).toEqual([lin.email, omar.email]);
});
