import { describe, expect, it, onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, register } from '../../support/oauth.ts';

// Over src/authorization-server/endpoint-limits/endpoint-limits.ts.

async function start(options: Partial<GatehouseOptions> = {}): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({
    ...options,
    limits: { authorizations: { times: 3, windowSeconds: 60 } },
  });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

function begin(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { redirect: 'manual', ...init, headers: { accept: 'text/html', ...init.headers } });
}

describe('authorization requests of a client from one address', () => {
  it('are 429 beyond the limit, by GET and HEAD alike, and nothing more is stored (T-061)', async () => {
    const gatehouse = await start();
    const { client_id: id } = await register(gatehouse.url);
    const { url } = authorization(gatehouse, id);
    const first = [await begin(url), await begin(url, { method: 'HEAD' }), await begin(url)];
    expect(first.map(({ status }) => status)).toEqual([303, 303, 303]);
    const before = await countIssued(gatehouse.folder);
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) {
      const response = await begin(url, { method });
      expect(response.status).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(response.headers.getSetCookie()).toEqual([]);
      if (method === 'GET') expect(await response.text()).toMatch(/Please try again in \d+ seconds/);
    }
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('count when they come at once, and when they are refused (T-061)', async () => {
    const gatehouse = await start();
    const { client_id: id } = await register(gatehouse.url);
    expect((await begin(`${gatehouse.url}/authorize?client_id=${id}`)).status).toBe(400);
    const { url } = authorization(gatehouse, id);
    const answers = await Promise.all(Array.from({ length: 30 }, () => begin(url)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, 303, ...Array.from({ length: 28 }, () => 429)]);
  });

  it('do not count against another address, and a JSON client is told in JSON (T-061)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    const { client_id: id } = await register(gatehouse.url);
    const { url } = authorization(gatehouse, id);
    const from = (address: string) => ({ 'x-forwarded-for': address, accept: 'application/json' });
    for (let request = 0; request < 3; request++) await begin(url, { headers: from('203.0.113.1') });
    const over = await begin(url, { headers: from('203.0.113.1') });
    expect(over.status).toBe(429);
    expect(await over.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await begin(url, { headers: from('203.0.113.2') })).status).toBe(303);
  });

  it('are one for a whole login, whatever pages it takes', async () => {
    const gatehouse = await start();
    const { client_id: id } = await register(gatehouse.url);
    for (let login = 0; login < 3; login++)
      expect((await approve(authorization(gatehouse, id))).searchParams.get('code')).toBeTruthy();
  });
});
