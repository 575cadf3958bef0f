// Flows of src/authorization-server/endpoints/authorization-endpoint.ts and
// src/authorization-server/endpoints/authorization-endpoint.ts, for requests that are pushed (RFC 9126).
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  type Flow,
  openConsent,
  post,
  redeem,
  register,
} from '../../support/oauth.ts';
import { createProver } from '../../support/proofs.ts';
import { createVisitor } from '../../support/visitor.ts';

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());
afterEach(() => void vi.useRealTimers());

/** Pushes what an authorization request would say in its query. */
function push(flow: Flow, change: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const fields = { ...Object.fromEntries(new URL(flow.url).searchParams), ...change };
  return post(`${gatehouse.url}/par`, fields, headers);
}

/** The same flow with the request pushed: its URL holds the reference alone. */
async function pushed(flow: Flow, change: Record<string, string> = {}): Promise<Flow> {
  const response = await push(flow, change);
  const body = (await response.json()) as { request_uri: string; expires_in: number };
  expect(response.status, JSON.stringify(body)).toBe(201);
  expect(body.expires_in).toBeLessThanOrEqual(60);
  return { ...flow, url: reference(body.request_uri, flow.clientId) };
}

function reference(requestUri: string, clientId: string): string {
  return `${gatehouse.url}/authorize?${new URLSearchParams({ client_id: clientId, request_uri: requestUri })}`;
}

async function expectRefused(url: string, error = 'invalid_request_uri'): Promise<void> {
  const response = await fetch(url, { redirect: 'manual', headers: { accept: 'application/json' } });
  expect([response.status, await response.json()]).toMatchObject([400, { error }]);
  expect(response.headers.get('location')).toBeNull();
}

describe('a pushed authorization request', () => {
  it('is answered as if it had come in the query, normalised like one', async () => {
    const flow = authorization(gatehouse, client, {
      scope: undefined,
      resource: `${gatehouse.mcpUrl.toUpperCase().replace('/MCP', '/mcp')}/`,
    });
    const shown = await pushed(flow);
    const answer = await approve(shown, { scopes: ['notes:read', 'notes:write'] });
    expect(answer.searchParams.get('state')).toBe(flow.state);
    const response = await redeem(gatehouse.url, flow, answer.searchParams.get('code') ?? '');
    const tokens = (await response.json()) as { scope: string };
    expect(response.status).toBe(200);
    expect(tokens.scope).toContain('notes:read');
  });

  it('gives one code, however often its pages were opened before (T-030)', async () => {
    const flow = await pushed(authorization(gatehouse, client));
    const [first, second] = [createVisitor(), createVisitor()];
    const pages = [await openConsent(flow, first), await openConsent(flow, second)];
    const decide = (visitor: typeof first, page: (typeof pages)[number] | undefined) =>
      visitor.submit(page ?? { html: '', url: '' }, '/consent', [
        ['decision', 'allow'],
        ['scope', 'notes:read'],
      ]);
    const answers = await Promise.all([decide(first, pages[0]), decide(second, pages[1])]);
    const codes = answers.filter(({ response }) => response.headers.get('location')?.includes('code='));
    expect(codes).toHaveLength(1);
    await expectRefused(flow.url);
  });

  it('gives one code also where its second page is answered long after the reference expired (T-030)', async () => {
    const flow = await pushed(authorization(gatehouse, client));
    const [first, second] = [createVisitor(), createVisitor()];
    const [page, late] = [await openConsent(flow, first), await openConsent(flow, second)];
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_000_000 });
    const allow: [string, string][] = [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
    ];
    const answer = await first.submit(page, '/consent', allow);
    expect(answer.response.headers.get('location')).toContain('code=');
    await gatehouse.storage.sweepExpired(Math.floor(Date.now() / 1000));
    const refused = await second.submit(late, '/consent', allow);
    const location = refused.response.headers.get('location') ?? '';
    expect(location).toContain('error=invalid_request_uri');
    expect(location).not.toContain('code=');
  });

  it('is refused once it has expired, was made up, or belongs to another client (T-030)', async () => {
    const other = (await register(gatehouse.url)).client_id;
    const flow = await pushed(authorization(gatehouse, client));
    const requestUri = new URL(flow.url).searchParams.get('request_uri') ?? '';
    await expectRefused(reference(requestUri, other));
    await expectRefused(reference(`${requestUri}x`, client));
    await expectRefused(reference('urn:ietf:params:oauth:request_uri:', client));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    await expectRefused(flow.url);
  });

  it('cannot be changed by what stands beside the reference', async () => {
    const flow = await pushed(authorization(gatehouse, client, { scope: 'notes:read' }));
    const beside = new URLSearchParams({
      scope: 'notes:read notes:write',
      redirect_uri: 'https://evil.example',
    });
    const page = await openConsent({ url: `${flow.url}&${beside}` }, createVisitor());
    expect(page.html).toContain('value="notes:read"');
    expect(page.html).not.toContain('value="notes:write"');
    expect(page.html).not.toContain('evil.example');
  });

  it.each([
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/cb' }, 'invalid_request'],
    ['an unknown resource', { resource: 'https://evil.example' }, 'invalid_target'],
    ['no scope that exists', { scope: 'nonsense' }, 'invalid_scope'],
    ['none but offline_access', { scope: 'nonsense offline_access', prompt: 'consent' }, 'invalid_scope'],
    ['no code challenge', { code_challenge: '' }, 'invalid_request'],
    ['another response mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    ['a reference of its own', { request_uri: 'http://127.0.0.1:6379/' }, 'request_uri_not_supported'],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
  ])('with %s is refused when it is pushed (T-021, T-023)', async (_what, change, error) => {
    const response = await push(authorization(gatehouse, client), change as Record<string, string>);
    const body = (await response.json()) as { error: string };
    expect(body.error).toBe(error);
    expect(response.status).toBe(error === 'invalid_client' ? 401 : 400);
    expect(response.headers.get('cache-control')).toContain('no-store');
  });

  it('of a confidential client needs its secret', async () => {
    const confidential = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    const flow = authorization(gatehouse, confidential.client_id);
    expect((await push(flow)).status).toBe(401);
    expect((await push(flow, { client_secret: 'wrong' })).status).toBe(401);
    expect((await push(flow, { client_secret: String(confidential.client_secret) })).status).toBe(201);
  });

  it('is all that a client may send that has registered to push', async () => {
    const careful = await register(gatehouse.url, { require_pushed_authorization_requests: true });
    const flow = authorization(gatehouse, careful.client_id);
    await expectRefused(flow.url, 'invalid_request');
    const answer = await approve(await pushed(flow));
    expect(answer.searchParams.get('code')).toBeTruthy();
  });

  it('with prompt=none is told the client by a redirect, as in the query', async () => {
    const flow = await pushed(authorization(gatehouse, client, { prompt: 'none' }));
    const response = await fetch(flow.url, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('error=login_required'),
    ]);
  });

  it('is announced, and not to be had from a page without an origin (T-039)', async () => {
    const metadata = await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({
      pushed_authorization_request_endpoint: `${gatehouse.url}/par`,
    });
    expect((await push(authorization(gatehouse, client), {}, { origin: 'null' })).status).toBe(400);
  });
});

describe('a DPoP proof', () => {
  it('pushes one request, however many come with it at the same moment (A13-09)', async () => {
    const prover = await createProver();
    const dpop = await prover.prove({ url: `${gatehouse.url}/par`, method: 'POST' });
    const flow = authorization(gatehouse, client);
    const answers = await Promise.all(Array.from({ length: 20 }, () => push(flow, {}, { dpop })));
    const refusals = answers.filter(({ status }) => status !== 201);
    expect(refusals).toHaveLength(19);
    for (const refusal of refusals) {
      expect(refusal.status).toBe(400);
      expect(((await refusal.json()) as { error: string }).error).toMatch(/^invalid_(?:dpop_proof|request)$/);
    }
  });
});
