import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type DocumentHost, startDocumentHost, trustDocumentHosts } from '../../support/document-host.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, post } from '../../support/oauth.ts';
import { expectAccepted, expectErrorPage } from '../../support/refusal.ts';

// Over src/gatehouse.ts, src/options.ts and src/authorization-server/server.ts.

const redirectUri = 'http://localhost/callback';

let host: DocumentHost;
beforeAll(async () => {
  trustDocumentHosts();
  host = await startDocumentHost();
});
afterAll(() => host.stop());

async function start(options: Partial<GatehouseOptions> = {}): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse(options);
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

const development = { dangerously: { fetchFromLoopback: true } };

function open(
  gatehouse: RunningGatehouse,
  clientId: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { search } = new URL(authorization(gatehouse, clientId, { redirect_uri: redirectUri }).url);
  return fetch(`${gatehouse.listensAt}/authorize${search}`, {
    headers: { accept: 'text/html', ...headers },
    redirect: 'manual',
  });
}

describe('a document at an address that is not public', () => {
  it.each([
    'localhost',
    '127.0.0.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    'app.localhost',
  ])(
    'as https://%s is refused with 400 invalid_client, without one byte to it, at every endpoint (T-067)',
    async (name) => {
      const gatehouse = await start();
      host.publish('/client.json');
      const before = host.connections();
      const id = `https://${name}:${host.port}/client.json`;
      const begun = performance.now();
      await expectErrorPage(await open(gatehouse, id), 'invalid_client');
      for (const path of ['/token', '/revoke']) {
        const response = await post(`${gatehouse.url}${path}`, {
          grant_type: 'refresh_token',
          refresh_token: 'x',
          token: 'x',
          client_id: id,
        });
        expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_client' }]);
      }
      expect(host.connections()).toBe(before);
      expect(performance.now() - begun).toBeLessThan(2_000);
    },
  );

  it('is fetched in development alone, with a line in the log at each start (T-067)', async () => {
    const gatehouse = await start(development);
    expectAccepted(
      await open(gatehouse, host.publish('/client.json')),
      gatehouse.url.replace('127.0.0.1', 'localhost'),
    );
    expect(gatehouse.log.join('')).toContain('dangerously.fetchFromLoopback is on');
    await expect(startGatehouse({ ...development, publicUrl: 'https://mcp.example.com' })).rejects.toThrow(
      'dangerously.fetchFromLoopback: is for development',
    );
  });
});

describe('a start', () => {
  it('under a proxy that Node.js was told to use is refused while documents are on, with what to do (T-069)', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9');
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(startGatehouse()).rejects.toThrow(
      /clients\.metadataDocuments\.enabled: .*HTTPS_PROXY.*set it to false/,
    );
    const gatehouse = await start({ clients: { metadataDocuments: { enabled: false } } });
    expect((await fetch(`${gatehouse.listensAt}/healthz`)).status).toBeLessThan(500);
  });
});

describe('the policy on hosts', () => {
  const policies: [
    string,
    Partial<NonNullable<NonNullable<GatehouseOptions['clients']>['metadataDocuments']>>,
    boolean,
  ][] = [
    ['allows it', { allowedHosts: ['LOCALHOST.'] }, true],
    ['allows others alone', { allowedHosts: ['claude.ai', '*.localhost'] }, false],
    ['denies it', { deniedHosts: ['LocalHost'] }, false],
    ['denies it and allows it', { allowedHosts: ['localhost'], deniedHosts: ['localhost'] }, false],
    ['denies others', { deniedHosts: ['*.localhost', 'ocalhost', 'localhost.example'] }, true],
    ['takes no documents at all', { enabled: false }, false],
  ];
  it.each(policies)(
    'that %s is kept before anybody is asked (T-078)',
    async (_what, metadataDocuments, taken) => {
      const gatehouse = await start({ ...development, clients: { metadataDocuments } });
      const id = host.publish('/policy.json');
      const before = host.connections();
      const response = await open(gatehouse, id);
      if (taken) return expectAccepted(response, gatehouse.url);
      await expectErrorPage(response, 'invalid_client');
      expect(host.connections()).toBe(before);
    },
  );

  it.each(['https://claude.ai', 'claude.ai/oauth', 'claude.ai:443', '*', 'a b'])(
    'names no host as %s',
    async (pattern) => {
      await expect(start({ clients: { metadataDocuments: { allowedHosts: [pattern] } } })).rejects.toThrow(
        'clients.metadataDocuments.allowedHosts.0: must be a host such as app.example.com',
      );
    },
  );
});

/** Sends 400 requests in two seconds; gives the answers, and the longest but for a hundredth that the event loop stood still. */
async function flood(
  send: (at: number) => Promise<Response>,
): Promise<{ statuses: number[]; p99Ms: number }> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const answers: Promise<number>[] = [];
  for (let at = 0; at < 400; at++) {
    answers.push(send(at).then(({ status }) => status));
    if (at % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const statuses = await Promise.all(answers);
  delay.disable();
  return { statuses, p99Ms: delay.percentile(99) / 1e6 };
}

describe('a flood of invented URLs', () => {
  const perTarget = 20;
  const limits = {
    authorizations: { times: 100_000 },
    metadataDocuments: { times: 10 },
    metadataDocumentsPerHost: { times: perTarget },
  };

  /** Where anybody may name a client, and the status of a refusal there. */
  const doors: Record<string, (gatehouse: RunningGatehouse, clientId: string) => Promise<Response>> = {
    'the authorization endpoint': open,
    'the token endpoint, with a refresh token': (gatehouse, clientId) =>
      post(`${gatehouse.url}/token`, {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: 'x'.repeat(43),
      }),
    'the token endpoint, with a code': (gatehouse, clientId) =>
      post(`${gatehouse.url}/token`, {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: 'x'.repeat(43),
        code_verifier: 'x'.repeat(43),
        redirect_uri: redirectUri,
      }),
  };
  it.each(Object.entries(doors))(
    'from one address, over %s, reaches the host so often, once a request, and is 429 then; those who register are not touched (T-076)',
    async (_door, ask) => {
      const gatehouse = await start({
        ...development,
        limits: { ...limits, tokenFailures: { times: 100_000 } },
      });
      const before = host.connections();
      const statuses: number[] = [];
      for (let at = 0; at < 30; at++) {
        const response = await ask(gatehouse, `${host.origin}/invented/${at}`);
        statuses.push(response.status);
        const text = await response.text();
        if (response.status !== 429) continue;
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(text).toContain('temporarily_unavailable');
      }
      expect(statuses).toEqual([...Array(10).fill(400), ...Array(20).fill(429)]);
      expect(host.connections() - before).toBe(10);
    },
  );

  it('from everywhere, 200 a second, reaches the host so often, and keeps the event loop free (T-076)', {
    retry: 2,
  }, async () => {
    const gatehouse = await start({ ...development, limits, trustedProxies: ['loopback'] });
    const known = host.publish('/known.json', {}, { 'cache-control': 'max-age=600' });
    const from = (at: number) => ({ 'x-forwarded-for': `203.0.${at >> 8}.${at & 255}` });
    expect((await open(gatehouse, known, from(9_999))).status).toBe(303);
    const before = host.connections();
    const ordinary = await flood((at) => open(gatehouse, `client_${at}`, from(at)));
    const invented = await flood((at) => open(gatehouse, `${host.origin}/flood/${at}`, from(at)));
    expect(host.connections() - before).toBe(perTarget - 1);
    expect(invented.statuses.filter((status) => status === 429)).toHaveLength(400 - perTarget + 1);
    // A machine with other work is slow at anything, and at times: what counts is how slow it is at ordinary requests.
    expect(invented.p99Ms).toBeLessThan(Math.max(200, 2 * ordinary.p99Ms));
    expect((await open(gatehouse, known, from(9_998))).status).toBe(303);
  });
});
