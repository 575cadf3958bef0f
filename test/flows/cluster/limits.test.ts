// Flows of src/authorization-server/limiters.ts over two nodes on one PostgreSQL database.

import { Secret, TOTP } from 'otpauth';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exchangePauseMs } from '../../../src/authorization-server/limiters.ts';
import type { GatehouseOptions } from '../../../src/index.ts';
import { modernRequest } from '../../mcp/support/gate.ts';
import { ada, type RunningGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens } from '../../support/oauth.ts';
import { startNodes, type TestNodes } from '../../support/postgres/nodes.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { openAccount } from '../account/support/account.ts';
import { askForCode, registerDevice } from '../device/subject.ts';
import { startEchoServers } from '../gateway/support/echo-servers.ts';

const server = usePostgres({ isOwn: true });

type Node = RunningGatehouse;

type Installation = TestNodes & { nodes: [Node, Node]; database: string };

async function start(
  limits: GatehouseOptions['limits'] = {},
  settings: Partial<GatehouseOptions> = {},
): Promise<Installation> {
  const database = await server().createDatabase();
  const { nodes, ...installation } = await startNodes(database, 2, { limits, ...settings });
  const [one, other] = nodes;
  if (!one || !other) throw new Error('two nodes were to start');
  return { ...installation, nodes: [one, other], database };
}

type Page = { html: string; url: string };

/** Runs jobs, a few at a time: the password queue of a node has eight places for an address. */
async function inTurns<T>(jobs: readonly (() => Promise<T>)[], atOnce: number): Promise<T[]> {
  const results: T[] = [];
  for (let from = 0; from < jobs.length; from += atOnce)
    results.push(...(await Promise.all(jobs.slice(from, from + atOnce).map((job) => job()))));
  return results;
}

function countBy(values: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

const lines = ({ log }: Node, event: string): number =>
  log.filter((line) => line.includes(`"audit":"${event}"`)).length;

const tryPassword = (visitor: Visitor, page: Page, password: string) =>
  visitor.submit(page, '/account/login', [
    ['email', ada.email],
    ['password', password],
  ]);

/** Posts a user code out of an open page. */
async function tryUserCode(visitor: Visitor, page: Page, code: string): Promise<Response> {
  const xsrf = /name="xsrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
  const response = await visitor.request(page.url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ user_code: code, xsrf }).toString(),
  });
  await response.arrayBuffer();
  return response;
}

const codeOf = (secret: string, atMs = Date.now()) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });

/** Turns one-time codes on for the account. */
async function turnCodesOn(nodes: Installation): Promise<string> {
  const page = await openAccount(nodes, { page: '/codes' });
  const secret = (/<dd><span class="detail">([A-Z2-7 ]+)</.exec(page.html)?.[1] ?? '').replaceAll(' ', '');
  const on = await page.visitor.submit(page, '/account/codes', [['code', codeOf(secret)]]);
  expect(on.html).toMatch(/<li>[a-z0-9-]{23}<\/li>/);
  return secret;
}

describe('guesses at two nodes', () => {
  it('of a password are as many as at one: of 200 from one address for one account ten are tried (T-117)', async () => {
    const installation = await start();
    const visitor = createVisitor();
    const page = await visitor.open(`${installation.url}/account/login`);
    const jobs = Array.from(
      { length: 200 },
      (_, at) => async () => (await tryPassword(visitor, page, `guess ${at}`)).response.status,
    );
    expect(countBy(await inTurns(jobs, 8))).toEqual({ 401: 10, 429: 190 });
    for (const node of installation.nodes)
      expect(lines(node, 'login.failed') + lines(node, 'login.throttled')).toBeGreaterThan(0);
    const right = await tryPassword(visitor, page, ada.password);
    expect(right.response.status).toBe(429);
    expect(Number(right.response.headers.get('retry-after'))).toBeGreaterThan(800);
  });

  it('of a one-time code are as many as at one, all at once too (T-117)', async () => {
    const installation = await start();
    const secret = await turnCodesOn(installation);
    const near = [-2, -1, 0, 1, 2, 3].map((step) => codeOf(secret, Date.now() + step * 30_000));
    const visitor = createVisitor();
    const page = await openAccount(installation, { visitor });
    expect(page.html).toContain('autocomplete="one-time-code"');
    const guesses = Array.from({ length: 70 }, (_, at) => String(at * 7_919).padStart(6, '0'))
      .filter((code) => !near.includes(code))
      .slice(0, 60);
    const answers = await Promise.all(
      guesses.map((code) => visitor.submit(page, '/account/code', [['code', code]])),
    );
    expect(countBy(answers.map(({ response }) => response.status))).toEqual({ 401: 10, 429: 50 });
  });

  it('of a user code are as many as at one, all at once too (T-029)', async () => {
    const installation = await start();
    const waiting = await askForCode(installation, await registerDevice(installation.url));
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const visitor = createVisitor();
        const code = `BBBB-BB${'BCDFGHJKLM'[at % 10]}${'BCDFGH'[at % 6]}`;
        return (await tryUserCode(visitor, await visitor.open(waiting.url), code)).status;
      }),
    );
    expect(countBy(answers)).toEqual({ 400: 20, 429: 40 });
  });

  it('of reset links, passkeys and codes of a new app are as many as at one (T-117)', async () => {
    const few = { times: 6, windowSeconds: 900 };
    const installation = await start({
      passwordResetsPerAddress: few,
      loginsPerAddress: few,
      codesPerAccount: few,
    });
    const { url } = installation;
    const visitor = createVisitor();
    const login = await visitor.open(`${url}/account/login`);
    const csrf = /name="csrf" value="([^"]*)"/.exec(login.html)?.[1] ?? '';
    const codes = await openAccount(installation, { page: '/codes' });
    const guesses = [
      (at: number) => createVisitor().open(`${url}/account/reset?key=guess${at}`),
      (at: number) =>
        visitor.open(`${url}/account/passkey`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ csrf, credential: `{"id":"guess${at}"}` }).toString(),
        }),
      () => codes.visitor.submit(codes, '/account/codes', [['code', 'guess']]),
    ];
    for (const [index, guess] of guesses.entries()) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => guess(at)));
      const status = index === 1 ? 401 : 400;
      expect(countBy(answers.map(({ response }) => response.status))).toEqual({ [status]: 6, 429: 14 });
    }
  });

  it('are not looked at while they cannot be counted: 503 with Retry-After, for a right password too', async () => {
    const installation = await start();
    const visitor = createVisitor();
    const page = await visitor.open(`${installation.url}/account/login`);
    const waiting = await askForCode(installation, await registerDevice(installation.url));
    const client = new pg.Client({ connectionString: installation.database });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('BEGIN; LOCK TABLE counters');
    const device = createVisitor();
    const devicePage = await device.open(waiting.url);
    const [right, code] = await Promise.all([
      tryPassword(visitor, page, ada.password),
      tryUserCode(device, devicePage, waiting.userCode),
    ]);
    for (const { status, headers } of [right.response, code]) {
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect(right.html).not.toContain('Your account</h1>');
    expect(installation.nodes.map((node) => lines(node, 'login.succeeded'))).toEqual([0, 0]);
    await client.query('ROLLBACK');
    expect((await tryPassword(visitor, page, ada.password)).html).toContain('Your account</h1>');
  });

  it('are refused with 503 temporarily_unavailable while the database is away, and tried again once it is back', async () => {
    const installation = await start();
    const visitor = createVisitor();
    const page = await visitor.open(`${installation.url}/account/login`);
    await server().stop();
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const away = await visitor.request(`${installation.url}/account/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ csrf, email: ada.email, password: ada.password }).toString(),
    });
    expect(away.status).toBe(503);
    expect(away.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await away.json()).toMatchObject({ error: 'temporarily_unavailable' });
    await server().start();
    await vi.waitFor(
      async () =>
        expect((await tryPassword(visitor, page, ada.password)).html).toContain('Your account</h1>'),
      { timeout: 30_000, interval: 500 },
    );
  });
});

/** Sends an MCP request without a session. */
async function ask(url: string, token: string, method: string, params = {}): Promise<Response> {
  const { headers, json } = modernRequest(method, params);
  return fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(json),
  });
}

async function call(node: Node, token: string, method = 'tools/list', params = {}): Promise<number> {
  const response = await ask(`${node.listensAt}/mcp`, token, method, params);
  await response.text();
  return response.status;
}

/** Requests of the test under load: scripts/test --long sends 10,000. */
const requests = Number(process.env.GATEHOUSE_LIMITED_REQUESTS || 2_000);

describe('load at two nodes', () => {
  it(`of one principal stays within the limit and what arrives within one exchange: ${requests} requests`, async () => {
    const times = 0.3 * requests;
    const installation = await start({ mcpRequests: { times, windowSeconds: 3_600 } });
    const { tokens } = await obtainTokens(installation);
    const acceptedAt: number[] = [];
    let left = requests;
    const work = async (node: Node): Promise<void> => {
      while (left-- > 0) {
        const status = await call(node, tokens.access_token);
        if (status === 200) acceptedAt.push(performance.now());
        else expect(status).toBe(429);
      }
    };
    const { nodes } = installation;
    await Promise.all(Array.from({ length: 40 }, (_, at) => work(at % 2 === 0 ? nodes[0] : nodes[1])));
    // An exchange is a pause and the time of a write, which shares the processor with the load of this test.
    const exchangeMs = 2 * exchangePauseMs;
    const within = (from: number): number =>
      acceptedAt.filter((at) => at >= from && at < from + exchangeMs).length;
    const mostInOneExchange = Math.max(...acceptedAt.filter((_, at) => at % 50 === 0).map(within));
    expect(acceptedAt.length).toBeGreaterThanOrEqual(times);
    // Each node may keep a hundredth of the limit to itself.
    expect(acceptedAt.length).toBeLessThanOrEqual(times + mostInOneExchange + (2 * times) / 100);
    expect(acceptedAt.length).toBeLessThan(2 * times);
  });

  it('counts at one node for the other as well: limits of the policy of a route', async () => {
    const servers = await startEchoServers();
    onTestFinished(() => servers.stop());
    const perMinute = 40;
    const installation = await start(undefined, {
      routes: {
        echo: { backend: { url: servers.url('modern') }, policy: { limits: [{ tools: '*', perMinute }] } },
      },
    });
    const [one, other] = installation.nodes;
    const mcpUrl = `${installation.url}/echo/mcp`;
    const { tokens } = await obtainTokens({ ...installation, mcpUrl }, { scope: 'mcp', scopes: ['mcp'] });
    const isTooOften = async (node: Node): Promise<boolean> => {
      const answer = await ask(`${node.listensAt}/echo/mcp`, tokens.access_token, 'tools/call', {
        name: 'echo',
        arguments: { doc: 1, end: 'of doc' },
      });
      return (await answer.text()).includes('tool_called_too_often');
    };
    for (let time = 0; time < perMinute; time++) expect(await isTooOften(one)).toBe(false);
    let taken = 0;
    await vi.waitFor(
      async () => {
        taken++;
        expect(await isTooOften(other)).toBe(true);
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(taken).toBeLessThan(perMinute / 2);
  });

  const limit = { times: 60, windowSeconds: 3_600 };
  it.each([
    {
      name: 'mcpRequests',
      prepare: async (installation: Installation) => (await obtainTokens(installation)).tokens.access_token,
      send: (node: Node, token: string) => call(node, token),
    },
    {
      name: 'toolCalls',
      prepare: async (installation: Installation) => (await obtainTokens(installation)).tokens.access_token,
      send: (node: Node, token: string) =>
        call(node, token, 'tools/call', { name: 'list_notes', arguments: {} }),
    },
    {
      name: 'requests',
      prepare: async () => '',
      send: async (node: Node) => (await fetch(`${node.listensAt}/jwks`)).status,
    },
    {
      name: 'registrations',
      prepare: async () => '',
      send: async (node: Node) =>
        (
          await fetch(`${node.listensAt}/register`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ redirect_uris: ['http://127.0.0.1:53682/callback'] }),
          })
        ).status,
    },
  ])('counts at one node for the other as well: $name', async ({ name, prepare, send }) => {
    const installation = await start({ [name]: limit });
    const [one, other] = installation.nodes;
    const token = await prepare(installation);
    const statuses: number[] = [];
    for (let time = 0; time < limit.times; time++) statuses.push(await send(one, token));
    expect(await send(one, token)).toBe(429);
    const elsewhere: number[] = [];
    await vi.waitFor(
      async () => {
        elsewhere.push(await send(other, token));
        expect(elsewhere.at(-1)).toBe(429);
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(limit.times / 2);
    expect(elsewhere.length).toBeLessThan(limit.times / 2);
  });
});
