// Flows of src/authorization-server/endpoint-table.ts, src/authorization-server/dispatch.ts,
// src/authorization-server/limits.ts and src/authorization-server/endpoint-limits/endpoint-limits.ts.
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AuthorizationServer } from '../../../src/authorization-server/index.ts';
import { files } from '../../support/foreign-resource.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';

const created = vi.hoisted((): AuthorizationServer[] => []);
vi.mock('../../../src/authorization-server/index.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../../src/authorization-server/index.ts')>();
  const createAuthorizationServer: typeof original.createAuthorizationServer = (options) => {
    const server = original.createAuthorizationServer(options);
    created.push(server);
    return server;
  };
  return { ...original, createAuthorizationServer };
});

interface Row {
  path: string;
  methods: string[];
  limits: string[];
}

/** The rows of the table of endpoints in the documentation. */
function documentedRows(): Row[] {
  const page = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8');
  return [...page.matchAll(/^\| `(\/[^`]*)` \| ([A-Z, ]+) \| (.+) \|$/gm)].map(
    ([, path = '', methods = '', limits = '']) => ({
      path,
      methods: methods.split(', '),
      limits: [...limits.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    }),
  );
}

const twice = { times: 2, windowSeconds: 600 };

async function start(): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({
    trustedProxies: ['loopback'],
    resources: [{ ...files, introspectedBy: ['the-file-server'] }],
    limits: { registrations: twice, authorizations: twice, tokenFailures: twice, requests: twice },
  });
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

/** Asks until it is refused for the number of requests, or has asked too often. */
async function askUntilRefused(
  url: string,
  method: string,
  address: string,
  accept: string,
): Promise<Response> {
  for (let request = 0; ; request++) {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        accept,
        'x-forwarded-for': address,
        ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : undefined),
      },
      ...(method === 'POST' ? { body: 'client_id=nobody&token=x' } : undefined),
    });
    if (response.status === 429 || request === 2 * twice.times) return response;
    await response.arrayBuffer();
  }
}

describe('every endpoint', () => {
  it('has a limit, and the documentation names it', async () => {
    await start();
    const served = Object.fromEntries(created.at(-1)?.endpointLimits ?? []);
    expect(Object.values(served).every((limits) => limits.length > 0)).toBe(true);
    expect(Object.fromEntries(documentedRows().map(({ path, limits }) => [path, limits]))).toEqual(served);
  });

  it('answers 429 beyond its limit, with the time to wait, to a page of any origin, and as JSON to programs', async () => {
    const gatehouse = await start();
    const asked = documentedRows().flatMap(({ path, methods }) =>
      methods.map((method) => ({ path, method })),
    );
    expect(asked.length).toBeGreaterThan(20);
    for (const [index, { path, method }] of asked.entries()) {
      const url = `${gatehouse.listensAt}${path.replace(/<\w+>/, 'x'.repeat(24))}`;
      const response = await askUntilRefused(url, method, `203.0.113.${index}`, 'application/json');
      expect(response.status, `${method} ${path}`).toBe(429);
      const seconds = Number(response.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(600);
      expect(response.headers.get('access-control-allow-origin'), path).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After');
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
    }
  });

  it('lets any page read a 429 of a limit further in: documents that were fetched for an address', async () => {
    const gatehouse = await startGatehouse({
      limits: { metadataDocuments: { times: 1, windowSeconds: 600 } },
    });
    onTestFinished(() => gatehouse.stop());
    const ask = (path: string) =>
      fetch(`${gatehouse.url}/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'https://page.example',
        },
        body: `grant_type=refresh_token&refresh_token=x&client_id=https://nobody.invalid/${path}`,
      });
    expect((await ask('first')).status).not.toBe(429);
    const refused = await ask('second');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After');
  });

  it('tells a person in their language how long to wait', async () => {
    const gatehouse = await start();
    const url = `${gatehouse.listensAt}/account`;
    const refused = await askUntilRefused(url, 'GET', '203.0.113.1', 'text/html');
    expect(refused.status).toBe(429);
    expect(await refused.text()).toMatch(/Too many requests[\s\S]*Please try again in \d+ /);
    const chinese = await fetch(url, {
      headers: { accept: 'text/html', 'accept-language': 'zh-CN', 'x-forwarded-for': '203.0.113.1' },
    });
    expect(chinese.status).toBe(429);
    expect(await chinese.text()).toContain('请求过多');
  });
});
