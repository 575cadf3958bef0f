// Flows of src/authorization-server/audit.ts, src/authorization-server/endpoints/endpoint-guards.ts
// and src/observability/logger.ts.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { asserting, createClientKey } from '../../support/client-keys.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  approve,
  authorization,
  obtainTokens,
  post,
  redeem,
  refresh,
  register,
} from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { generousLimits, obtainCode } from './subject.ts';

let gatehouse: RunningGatehouse;
let accountId: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
  accountId = (await gatehouse.administration.accounts.list())[0]?.id ?? '';
});
afterAll(() => gatehouse.stop());
afterEach(() => void vi.useRealTimers());

type Line = Record<string, unknown>;

const linesOf = (event: string, clientId: string): Line[] =>
  gatehouse.log
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.audit === event && line.clientId === clientId);

/** Expects that an event was noted once, with client, address and request, and gives the line. */
function expectNoted(event: string, clientId: string): Line {
  const lines = linesOf(event, clientId);
  expect(lines, event).toHaveLength(1);
  const line = lines[0] ?? {};
  expect(line).toMatchObject({ address: '127.0.0.1', requestId: expect.stringMatching(/^[\da-f-]{36}$/) });
  return line;
}

describe('the audit log', () => {
  it('has registration, login, consent, the tokens issued and those refused (T-197)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    expectNoted('client.registered', clientId);
    expect(expectNoted('login.succeeded', clientId).accountId).toBe(accountId);
    expect(expectNoted('consent.granted', clientId)).toMatchObject({
      accountId,
      scopes: 'notes:read notes:write',
    });
    expect(expectNoted('token.issued', clientId)).toMatchObject({
      accountId,
      grantType: 'authorization_code',
    });
    await refresh(gatehouse.url, clientId, tokens.refresh_token);
    expect(linesOf('token.issued', clientId)[1]).toMatchObject({ accountId, grantType: 'refresh_token' });
    await refresh(gatehouse.url, clientId, 'x');
    expect(expectNoted('token.refused', clientId)).toMatchObject({
      error: 'invalid_grant',
      reason: 'refresh token not found',
    });
  });

  it('has why a grant or client was refused, which the answer does not say (T-197)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const refused = async (fields: Record<string, string>): Promise<unknown> => {
      const given = { grant_type: 'authorization_code', code, redirect_uri: flow.redirectUri };
      const sent = { ...given, client_id: flow.clientId, code_verifier: flow.verifier, ...fields };
      expect(await (await post(`${gatehouse.url}/token`, sent)).text()).not.toMatch(
        /mismatch|match|not found/,
      );
      return linesOf('token.refused', flow.clientId).at(-1)?.reason;
    };
    expect(await refused({ code_verifier: 'x'.repeat(43) })).toBe(
      'code_verifier does not match code_challenge',
    );
    expect(await refused({ redirect_uri: 'http://127.0.0.1/other' })).toBe(
      'authorization code redirect_uri mismatch',
    );
    expect(await refused({ code: 'x' })).toBe('authorization code not found');
    const before = gatehouse.log.length;
    await post(`${gatehouse.url}/token`, {
      grant_type: 'refresh_token',
      client_id: 'nobody',
      refresh_token: 'x',
    });
    expect(gatehouse.log.slice(before).join('')).toContain('"reason":"client not found"');
  });

  it('has why a client assertion was refused, also where only its signature is wrong (T-197)', async () => {
    const [key, stranger] = [await createClientKey('ES256', 'k1'), await createClientKey('ES256', 'k1')];
    const { client_id: clientId } = await register(gatehouse.url, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.jwk] },
    });
    const reasons = async (assertion: string, times = 1): Promise<unknown[]> => {
      const before = gatehouse.log.length;
      const sent = { grant_type: 'refresh_token', refresh_token: 'x', ...asserting(assertion) };
      await Promise.all(Array.from({ length: times }, () => post(`${gatehouse.url}/token`, sent)));
      const lines = gatehouse.log.slice(before).map((line) => JSON.parse(line) as Line);
      return lines.filter(({ error }) => error === 'invalid_client').map(({ reason }) => reason);
    };
    expect(await reasons(await stranger.sign(clientId, gatehouse.url))).toEqual([
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ]);
    expect(await reasons(await key.sign(clientId, gatehouse.url, {}, { kid: 'k2' }))).toEqual([
      'ERR_JWKS_NO_MATCHING_KEY',
    ]);
    expect(await reasons(await key.sign(clientId, gatehouse.url, { exp: 1 }))).toEqual([
      'client assertion has expired',
    ]);
    const assertion = await key.sign(clientId, gatehouse.url);
    expect(await reasons(assertion, 20)).toEqual(
      Array(19).fill('client assertion tokens must only be used once'),
    );
  });

  it('has that a request was good until another one was quicker (T-197)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    await Promise.all(Array.from({ length: 20 }, () => redeem(gatehouse.url, flow, code)));
    const refused = linesOf('token.refused', flow.clientId).map(({ reason }) => reason);
    expect(refused).toHaveLength(19);
    // The second node may find all of them used up already.
    if (nodeCount === 1) expect(refused).toContain('another request used it up at the same moment');
    expect(refused.filter((reason) => typeof reason !== 'string')).toEqual([]);
  });

  it.each([
    ['is too large', {}, 'x'.repeat(57_345), 'at most 57344 bytes'],
    ['is compressed', { 'content-encoding': 'gzip' }, 'x', 'without a Content-Encoding'],
    ['has too many parameters', {}, 'x&'.repeat(101), 'at most 100 parameters'],
  ])('has a token request whose body %s (T-197)', async (_what, headers, body, reason) => {
    const before = gatehouse.log.length;
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    await fetch(`${gatehouse.url}/token`, { method: 'POST', headers: { ...type, ...headers }, body });
    const refused = gatehouse.log.slice(before).map((line) => JSON.parse(line) as Line);
    expect(refused.filter(({ audit }) => audit === 'token.refused')).toMatchObject([
      { error: 'invalid_request', reason: expect.stringContaining(reason), address: '127.0.0.1' },
    ]);
  });

  it('has failed logins and denials (T-197)', async () => {
    const { client_id: clientId } = await register(gatehouse.url);
    const visitor = createVisitor();
    const login = await visitor.open(authorization(gatehouse, clientId).url);
    const attempt = (password: string) =>
      visitor.submit(login, '/login', [
        ['email', ada.email],
        ['password', password],
      ]);
    await attempt('wrong');
    expectNoted('login.failed', clientId);
    await visitor.submit(await attempt(ada.password), '/consent', [['decision', 'deny']]);
    expect(expectNoted('consent.denied', clientId).accountId).toBe(accountId);
  });

  it('has a revocation, with whose grant it ended (T-197)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: tokens.access_token });
    expect(expectNoted('grant.revoked', clientId).accountId).toBe(accountId);
    await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: tokens.access_token });
    expectNoted('grant.revoked', clientId);
  });

  it('has reuse, of a code at once and late, and of a refresh token, with whose it was (T-197)', async () => {
    const again = await obtainCode(gatehouse);
    for (let time = 0; time < 2; time++) await redeem(gatehouse.url, again.flow, again.code);
    expect(expectNoted('token.reuse_detected', again.flow.clientId)).toMatchObject({
      accountId,
      kind: 'AuthorizationCode',
    });

    const raced = await obtainCode(gatehouse);
    await Promise.all([1, 2].map(() => redeem(gatehouse.url, raced.flow, raced.code)));
    expect(expectNoted('token.reuse_detected', raced.flow.clientId).accountId).toBe(accountId);

    const late = await obtainCode(gatehouse);
    await redeem(gatehouse.url, late.flow, late.code);
    const { clientId, tokens } = await obtainTokens(gatehouse);
    await refresh(gatehouse.url, clientId, tokens.refresh_token);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    await redeem(gatehouse.url, late.flow, late.code);
    expect(expectNoted('token.reuse_detected', late.flow.clientId).accountId).toBe(accountId);
    await refresh(gatehouse.url, clientId, tokens.refresh_token);
    expect(expectNoted('token.reuse_detected', clientId)).toMatchObject({ accountId, kind: 'RefreshToken' });
  });

  it('stays one short JSON line an event, whatever clients call themselves and send (T-195)', async () => {
    const hostile = `a\r\n{"level":"fatal","audit":"forged"}\u001b[2J\u2028${'x'.repeat(50_000)}`;
    const before = gatehouse.log.length;
    await refresh(gatehouse.url, hostile, hostile);
    await fetch(`${gatehouse.url}/token/${encodeURIComponent(hostile)}`, {
      headers: { 'user-agent': 'x'.repeat(8000), 'x-request-id': 'forged', 'x-forwarded-for': 'forged' },
    }).catch(() => undefined);
    const { client_id: clientId } = await register(gatehouse.url, { client_name: `a\r\nb\u001b[2J` });
    await approve(authorization(gatehouse, clientId));
    const lines = gatehouse.log.slice(before);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(line).not.toContain('\u001b');
      expect(line.length).toBeLessThan(3000);
      const entry = JSON.parse(line) as Line;
      expect(entry.audit).not.toBe('forged');
      expect(JSON.stringify([entry.requestId, entry.address])).not.toContain('forged');
    }
  });
});

describe('an error', () => {
  it('tells nothing of the inside: no stack, path, SQL or version, and plain ASCII (T-196)', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const { client_id: clientId } = await register(gatehouse.url);
    const requests: [string, RequestInit][] = [
      [
        '/token',
        { method: 'POST', headers: form, body: 'grant_type=refresh_token&client_id=x&refresh_token=x' },
      ],
      ['/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }],
      ['/token', { method: 'POST', headers: { ...form, authorization: 'Basic %%%' }, body: 'x=1' }],
      [
        '/token',
        { method: 'POST', headers: form, body: `client_id=${clientId}&grant_type=\u0000'"<script>` },
      ],
      ['/revoke', { method: 'POST', headers: form, body: 'token=x' }],
      [
        '/register',
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"redirect_uris":[1]}' },
      ],
      ['/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '\u0000' }],
      ['/nothing', {}],
      ['/jwks', { method: 'DELETE' }],
    ];
    for (const [path, init] of requests) {
      const response = await fetch(`${gatehouse.url}${path}`, init);
      const text = await response.text();
      expect(response.status, text).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(text).toMatch(/^[\x20-\x7E\n]*$/);
      expect(text).not.toMatch(/\bat \S+:\d+|node_modules|\.ts\b|SQLITE|SELECT|oidc-provider|koa|<script>/i);
      expect(response.headers.get('x-powered-by')).toBeNull();
      expect(response.headers.get('server')).toBeNull();
    }
  });
});
