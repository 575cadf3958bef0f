// Flows of src/authorization-server/endpoint-limits/endpoint-limits.ts and src/collections/fair-queue.ts.
import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, obtainTokens, post, refresh, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { countStatuses, expectTokens, generousLimits } from '../token/subject.ts';

async function start(
  limits: GatehouseOptions['limits'],
  options: Partial<GatehouseOptions> = {},
): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({ ...options, limits: { ...generousLimits, ...limits } });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

const few = { times: 5, windowSeconds: 600 };
const wide = { times: 100_000, windowSeconds: 60 };

/** Refreshes with tokens that are none, one after the other; gives the statuses. */
async function guess(url: string, clientIds: readonly string[]): Promise<number[]> {
  const statuses = [];
  for (const clientId of clientIds) {
    const response = await refresh(url, clientId, 'a guess');
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  return statuses;
}

/** Serves a listener on loopback until the test ends; gives its URL. */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('behind one address', () => {
  it('nineteen clients go on to work beside one that fails without end (T-055)', async () => {
    const gatehouse = await start({ tokenFailures: few });
    const good = [];
    for (let client = 0; client < 19; client++) good.push(await obtainTokens(gatehouse));
    const { client_id: hostile } = await register(gatehouse.url);
    const hostileStatuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const flood = guess(gatehouse.url, Array<string>(40).fill(hostile));
      const answers = await Promise.all(
        good.map(({ clientId, tokens }) => refresh(gatehouse.url, clientId, tokens.refresh_token)),
      );
      for (const [index, answer] of answers.entries()) {
        const client = good[index];
        if (client) client.tokens = await expectTokens(answer);
      }
      hostileStatuses.push(...(await flood));
    }
    expect(hostileStatuses.filter((status) => status === 400)).toHaveLength(few.times);
    expect(hostileStatuses.filter((status) => status === 429)).toHaveLength(120 - few.times);
  });

  it('nobody begins more authorizations for one client than its limit; its neighbours begin theirs', async () => {
    const gatehouse = await start({ authorizations: few });
    const { client_id: hostile } = await register(gatehouse.url);
    const { client_id: good } = await register(gatehouse.url);
    const begin = (clientId: string) =>
      fetch(authorization(gatehouse, clientId).url, { redirect: 'manual', headers: { accept: 'text/html' } });
    const answers = await Promise.all(Array.from({ length: 60 }, () => begin(hostile)));
    expect(countStatuses(answers)).toEqual({ 303: 5, 429: 55 });
    expect((await begin(good)).status).toBe(303);
    const push = (clientId: string) =>
      post(
        `${gatehouse.url}/par`,
        Object.fromEntries(new URL(authorization(gatehouse, clientId).url).searchParams),
      );
    const pushed = await Promise.all(Array.from({ length: 20 }, () => push(hostile)));
    expect(countStatuses(pushed)).toEqual({ 201: 5, 429: 15 });
    expect((await push(good)).status).toBe(201);
  });

  it('made-up names do not help: the address is at its limit after ten times as many (T-055)', async () => {
    const gatehouse = await start({ tokenFailures: few });
    const statuses = await guess(
      gatehouse.url,
      Array.from({ length: 60 }, (_, at) => `made-up-${at}`),
    );
    expect(statuses.slice(0, 50)).toEqual(Array<number>(50).fill(401));
    expect(statuses.slice(50)).toEqual(Array<number>(10).fill(429));
  });

  it('nor do bodies that are held back until the address is at its limit (T-055)', async () => {
    const gatehouse = await start({ tokenFailures: few });
    const held = Array.from({ length: 10 }, (_, at) => {
      const authorization = `Basic ${Buffer.from(`held-${at}:x`).toString('base64')}`;
      const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
      const asked = request(`${gatehouse.url}/token`, { method: 'POST', headers });
      asked.write('grant_type=refresh_token');
      const status = once(asked, 'response').then(([{ statusCode }]) => statusCode as number);
      return { finish: () => asked.end('&refresh_token=x'), status };
    });
    await guess(
      gatehouse.url,
      Array.from({ length: 50 }, (_, at) => `made-up-${at}`),
    );
    for (const { finish, status } of held) {
      finish();
      expect(await status).toBe(429);
    }
  });

  it('a client counts as the same one however it says who it is (T-055)', async () => {
    const gatehouse = await start({ tokenFailures: few });
    const url = `${gatehouse.url}/token`;
    const fields = { grant_type: 'refresh_token', refresh_token: 'a guess' };
    const basic = { authorization: `Basic ${Buffer.from('some%2Done:secret').toString('base64')}` };
    for (let failure = 0; failure < 5; failure++)
      expect((await post(url, { ...fields, client_id: 'some-one' })).status).toBe(401);
    expect((await post(url, fields, basic)).status).toBe(429);
    expect((await post(url, { ...fields, client_id: 'another' })).status).toBe(401);
  });
});

describe('an address that many people share', () => {
  const shared = { limits: { sharedAddresses: ['198.51.100.0/24'], registrations: few, tokenFailures: few } };
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const tryRegister = async (url: string, address: string): Promise<number> => {
    const response = await fetch(`${url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...from(address) },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/cb'] }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  it('has twenty times as much, each by itself; another has not', async () => {
    const gatehouse = await start(shared.limits, { trustedProxies: ['loopback'] });
    const statuses = await Promise.all(
      Array.from({ length: 110 }, () => tryRegister(gatehouse.url, '198.51.100.7')),
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect(await tryRegister(gatehouse.url, '198.51.100.8')).toBe(201);
    const others = await Promise.all(
      Array.from({ length: 7 }, () => tryRegister(gatehouse.url, '203.0.113.7')),
    );
    expect(others.filter((status) => status === 429)).toHaveLength(2);
  });

  it('is one by the proxy’s word alone: nobody becomes one by a header (T-109)', async () => {
    const gatehouse = await start(shared.limits);
    const statuses = await Promise.all(
      Array.from({ length: 7 }, () => tryRegister(gatehouse.url, '198.51.100.7')),
    );
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });
});

describe('the password queue', () => {
  /** Opens a login page as a person at an address; the function it gives posts the password, and gives the status. */
  async function openLogin(gatehouse: RunningGatehouse, clientId: string, address: string) {
    const visitor = createVisitor(undefined, undefined, undefined, address);
    const page = await visitor.open(authorization(gatehouse, clientId).url);
    return async (email: string, password: string): Promise<number> => {
      const fields: [string, string][] = [
        ['email', email],
        ['password', password],
      ];
      return (await visitor.submit(page, '/login', fields)).response.status;
    };
  }

  const wideLogins = { loginsPerAccountAndAddress: wide, loginsPerAccount: wide, loginsPerAddress: wide };

  /** Sends a crowd, and right behind it twenty people at addresses of their own, each with an account; gives the statuses. */
  async function loginBehind(
    crowd: (at: number) => { address: string; email: string; password: string },
    size: number,
  ): Promise<{ crowd: number[]; people: number[]; gatehouse: RunningGatehouse }> {
    const gatehouse = await start(wideLogins, { trustedProxies: ['loopback'] });
    const { client_id: clientId } = await register(gatehouse.url);
    const emails = Array.from({ length: 20 }, (_, at) => `person-${at}@example.com`);
    await Promise.all(emails.map((email) => gatehouse.administration.accounts.add(email, ada.password)));
    const people = await Promise.all(
      emails.map((_, at) => openLogin(gatehouse, clientId, `198.51.100.${at}`)),
    );
    const members = Array.from({ length: size }, (_, at) => crowd(at));
    const hostile = await Promise.all(members.map(({ address }) => openLogin(gatehouse, clientId, address)));
    const flood = Promise.all(
      hostile.map((login, at) => login(members[at]?.email ?? '', members[at]?.password ?? '')),
    );
    const answers = await Promise.all(people.map((login, at) => login(emails[at] ?? '', ada.password)));
    return { crowd: await flood, people: answers, gatehouse };
  }

  it('lets twenty people in beside 36 right passwords of one account at one address (FA-06, T-206)', async () => {
    const { crowd, people, gatehouse } = await loginBehind(() => ({ address: '203.0.113.1', ...ada }), 36);
    expect(people).toEqual(Array<number>(20).fill(200));
    const refused = crowd.filter((status) => status === 503).length;
    expect(refused).toBeGreaterThan(0);
    expect(gatehouse.log.filter((line) => /"login.throttled".*"reason":"busy"/.test(line))).toHaveLength(
      refused,
    );
    const metrics = await fetch(`${await listen(gatehouse.serveMetrics)}/metrics`);
    expect(await metrics.text()).toContain(
      `gatehouse_limited_requests_total{limit="passwordQueue"} ${refused}`,
    );
  });

  it('lets twenty people in beside five addresses without an account that flood it (FA-06, T-206)', async () => {
    const { crowd, people } = await loginBehind(
      (at) => ({
        address: `203.0.113.${at % 5}`,
        email: `nobody-${at}@example.com`,
        password: 'a wrong guess',
      }),
      150,
    );
    expect(people).toEqual(Array<number>(20).fill(200));
    expect(crowd.filter((status) => status === 503).length).toBeGreaterThan(0);
  });
});

describe('a limit that is reached', () => {
  it('stands in the audit log once for a client and window, with its name, and is counted each time', async () => {
    const gatehouse = await start({ tokenFailures: few });
    await guess(gatehouse.url, [...Array<string>(40).fill('first'), ...Array<string>(40).fill('second')]);
    const lines = gatehouse.log
      .filter((line) => line.includes('limit.reached'))
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { audit: 'limit.reached', limit: 'tokenFailures', claimedClientId: 'first', address: '127.0.0.1' },
      { audit: 'limit.reached', limit: 'tokenFailures', claimedClientId: 'second' },
    ]);
    const metrics = await fetch(`${await listen(gatehouse.serveMetrics)}/metrics`);
    expect(await metrics.text()).toContain('gatehouse_limited_requests_total{limit="tokenFailures"} 70');
  });
});
