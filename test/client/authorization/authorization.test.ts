import { describe, expect, it } from 'vitest';
import {
  chooseScopes,
  createMemoryStore,
  discover,
  finishAuthorization,
  obtainRegistration,
  processAuthorizationResponse,
  startAuthorization,
} from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

const redirectUri = 'http://127.0.0.1:4711/callback';

async function setUp(overrides: Record<string, unknown> = {}, scopes?: string[]) {
  const as = await startAuthorizationServer(overrides);
  const mcp = await startMcpServer(as, scopes === undefined ? {} : { scopes });
  const context = testContext();
  const found = await discover(context, mcp.url);
  const { registration } = await obtainRegistration(context, found, createMemoryStore(), { redirectUri });
  const { url, pending } = await startAuthorization(found, registration, { redirectUri });
  const visit = async (): Promise<URLSearchParams> => {
    const response = await fetch(url, { redirect: 'manual' });
    return new URL(response.headers.get('location') ?? '').searchParams;
  };
  return { as, mcp, context, found, registration, url: new URL(url), pending, visit };
}

const sentToToken = (as: { requests: { path: string; body: string }[] }) =>
  as.requests
    .filter(({ path }) => path === '/token')
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)));

describe('the authorization request', () => {
  it('has PKCE with S256, a state and the resource (A6-01, A6-04, A7-01)', async () => {
    const { url, pending, mcp, registration } = await setUp();
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: registration.clientId,
      redirect_uri: redirectUri,
      state: pending.state,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      resource: mcp.url,
    });
    expect(pending.state).toMatch(/^[\w-]{43}$/);
    expect(url.href).not.toContain(pending.codeVerifier);
  });

  it('has a state and a verifier of its own each time (A6-04)', async () => {
    const { found, registration, pending } = await setUp();
    const { pending: other } = await startAuthorization(found, registration, { redirectUri });
    expect(other.state).not.toBe(pending.state);
    expect(other.codeVerifier).not.toBe(pending.codeVerifier);
  });

  it('keeps the query of the endpoint and asks for consent with offline_access', async () => {
    const { found, registration, as } = await setUp({ scopes_supported: ['offline_access'] }, ['read']);
    const authorizationServer = {
      ...found.authorizationServer,
      authorization_endpoint: `${as.origin}/authorize?t=1`,
    };
    const changed = { ...found, authorizationServer };
    const url = new URL((await startAuthorization(changed, registration, { redirectUri })).url);
    expect([
      url.searchParams.get('t'),
      url.searchParams.get('scope'),
      url.searchParams.get('prompt'),
    ]).toEqual(['1', 'read offline_access', 'consent']);
  });

  it('is not built with a client of another issuer (A5-10)', async () => {
    const { found } = await setUp();
    await expect(startAuthorization(found, testRegistration(), { redirectUri })).rejects.toMatchObject({
      reason: 'authorization_server_changed',
    });
  });
});

describe('the scopes asked for', () => {
  const found = (challenged?: string[], published?: string[], supported?: string[]) => ({
    authorizationServer: {
      issuer: 'https://as',
      authorization_endpoint: 'https://as/a',
      token_endpoint: 'https://as/t',
      ...(supported === undefined ? {} : { scopes_supported: supported }),
    },
    ...(challenged === undefined ? {} : { challengedScopes: challenged }),
    ...(published === undefined
      ? {}
      : {
          protectedResource: {
            resource: 'https://m',
            authorization_servers: [],
            scopes_supported: published,
          },
        }),
  });

  it.each([
    ['those of the user', found(['c'], ['p']), ['u'], ['u']],
    ['those of the challenge, related or not to those published', found(['c'], ['p']), undefined, ['c']],
    ['all those published', found(undefined, ['p', 'q']), undefined, ['p', 'q']],
    ['none', found(), undefined, []],
    [
      'none, even if the server lists offline_access',
      found(undefined, undefined, ['offline_access']),
      undefined,
      [],
    ],
    [
      'offline_access on top where the server lists it',
      found(['c'], undefined, ['x', 'offline_access']),
      undefined,
      ['c', 'offline_access'],
    ],
    ['no offline_access where the server does not list it', found(['c'], undefined, ['x']), undefined, ['c']],
  ])('are %s (A8-06, A9-02)', (_, server, wanted, scopes) => {
    expect(chooseScopes(server, wanted)).toEqual(scopes);
  });
});

describe('the authorization response', () => {
  it('is exchanged with verifier and resource (A6-01, A7-01)', async () => {
    const { as, mcp, context, pending, visit, registration } = await setUp({}, ['read']);
    const credential = await finishAuthorization(context, pending, await visit());
    expect(sentToToken(as)).toEqual([
      {
        grant_type: 'authorization_code',
        client_id: registration.clientId,
        code: expect.stringMatching(/^code-/),
        code_verifier: pending.codeVerifier,
        redirect_uri: redirectUri,
        resource: mcp.url,
      },
    ]);
    expect(credential).toMatchObject({
      authorizationServer: { issuer: as.origin },
      resource: mcp.url,
      scopes: ['read'],
      expiresAt: context.now() + 3600,
      accessToken: expect.stringMatching(/^at-/),
      refreshToken: expect.stringMatching(/^rt-/),
    });
  });

  it('does not need a refresh token (A9-02)', async () => {
    const { as, context, pending, visit } = await setUp();
    as.issuesRefreshTokens = false;
    const credential = await finishAuthorization(context, pending, await visit());
    expect(credential.refreshToken).toBeUndefined();
    expect(credential.scopes).toBeUndefined();
  });

  const right = 'the-issuer';
  it.each([
    ['advertised and equal', true, right, true],
    ['advertised and another', true, 'https://evil.example', false],
    ['advertised and absent', true, undefined, false],
    ['not advertised and equal', false, right, true],
    ['not advertised and another', false, 'https://evil.example', false],
    ['not advertised and empty', false, '', false],
    ['not advertised and absent', false, undefined, true],
  ])(
    'with an issuer that is %s is accepted: %s %s %s (A6-08, T-187)',
    async (_, advertised, iss, accepted) => {
      const { as, context, pending } = await setUp({
        authorization_response_iss_parameter_supported: advertised,
      });
      const query = new URLSearchParams({ code: 'x', state: pending.state });
      if (iss !== undefined) query.set('iss', iss === right ? as.origin : iss);
      const judge = () => processAuthorizationResponse(pending, query);
      if (accepted) expect(judge().get('code')).toBe('x');
      else {
        expect(judge).toThrow(expect.objectContaining({ reason: 'issuer_mismatch' }));
        await expect(finishAuthorization(context, pending, query)).rejects.toMatchObject({
          reason: 'issuer_mismatch',
        });
        expect(sentToToken(as)).toEqual([]);
      }
    },
  );

  it.each([
    ['a slash', (issuer: string) => `${issuer}/`],
    ['its case', (issuer: string) => issuer.toUpperCase()],
    ['a default port', (issuer: string) => issuer.replace('as.example', 'as.example:443')],
    ['percent-coding', (issuer: string) => issuer.replace('as', '%61s')],
  ])('with an issuer that differs in %s is refused: nothing is normalised (A6-09)', async (_, change) => {
    const { pending } = await setUp();
    const issuer = 'https://as.example';
    const authorizationServer = { ...pending.authorizationServer, issuer };
    const query = new URLSearchParams({ code: 'x', state: pending.state, iss: change(issuer) });
    expect(() => processAuthorizationResponse({ ...pending, authorizationServer }, query)).toThrow(
      expect.objectContaining({ reason: 'issuer_mismatch' }),
    );
  });

  it.each([
    ['no state', (query: URLSearchParams) => query.delete('state')],
    ['another state', (query: URLSearchParams) => query.set('state', 'other')],
    ['two states', (query: URLSearchParams) => query.append('state', 'other')],
    ['two codes', (query: URLSearchParams) => query.append('code', 'other')],
    ['no code', (query: URLSearchParams) => query.delete('code')],
    ['an id_token', (query: URLSearchParams) => query.set('id_token', 'x')],
    ['a JARM response', (query: URLSearchParams) => query.set('response', 'x')],
  ])('with %s is dropped, and no code is sent anywhere (A6-04, T-187)', async (_, change) => {
    const { as, context, pending, visit } = await setUp();
    const query = await visit();
    change(query);
    await expect(finishAuthorization(context, pending, query)).rejects.toMatchObject({
      reason: 'authorization_response_rejected',
    });
    expect(sentToToken(as)).toEqual([]);
  });

  it('with an error from the right issuer tells the error', async () => {
    const { as, pending } = await setUp();
    const query = new URLSearchParams({
      error: 'access_denied',
      error_description: 'the user said no',
      state: pending.state,
      iss: as.origin,
    });
    expect(() => processAuthorizationResponse(pending, query)).toThrow(
      '"access_denied" ("the user said no")',
    );
  });

  it('with an error from the wrong issuer shows nothing of it (A6-10, T-187)', async () => {
    const { pending } = await setUp();
    const query = new URLSearchParams({
      error: 'send-money',
      error_description: 'call your bank now',
      error_uri: 'https://evil.example/help',
      state: pending.state,
      iss: 'https://evil.example',
    });
    try {
      processAuthorizationResponse(pending, query);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ reason: 'issuer_mismatch' });
      expect(String(error)).not.toMatch(/send-money|bank|help/);
    }
  });

  it('of an honest server to a request at an attacker is refused: the code goes to nobody (T-026)', async () => {
    const honest = await startAuthorizationServer();
    for (const advertised of [true, false]) {
      const {
        as: attacker,
        context,
        pending,
        url,
      } = await setUp({
        authorization_response_iss_parameter_supported: advertised,
      });
      attacker.routes['GET /authorize'] = ({ query }) => ({
        status: 302,
        headers: { location: `${honest.origin}/authorize?${query}` },
        text: '',
      });
      const first = await fetch(url, { redirect: 'manual' });
      const second = await fetch(first.headers.get('location') ?? '', { redirect: 'manual' });
      const query = new URL(second.headers.get('location') ?? '').searchParams;
      expect(query.get('code')).toMatch(/^code-/);
      await expect(finishAuthorization(context, pending, query)).rejects.toMatchObject({
        reason: 'issuer_mismatch',
      });
      expect([...sentToToken(attacker), ...sentToToken(honest)]).toEqual([]);
    }
  });

  it.each([
    ['invalid_grant', 'token_refused'],
    ['invalid_client', 'client_unknown'],
  ])(
    'whose code is refused with %s ends with %s and without secrets in the message (T-191)',
    async (code, reason) => {
      const { as, context, pending, visit } = await setUp();
      const query = await visit();
      as.routes['POST /token'] = { status: 400, json: { error: code } };
      const error = await finishAuthorization(context, pending, query).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason });
      expect(String(error)).not.toContain(query.get('code'));
      expect(String(error)).not.toContain(pending.codeVerifier);
    },
  );

  it('that gives a token of another type is refused', async () => {
    const { as, context, pending, visit } = await setUp();
    const query = await visit();
    as.routes['POST /token'] = { json: { access_token: 'x', token_type: 'DPoP' } };
    await expect(finishAuthorization(context, pending, query)).rejects.toMatchObject({
      reason: 'token_refused',
    });
  });

  it('is not exchanged through a redirect (T-186)', async () => {
    const { as, context, pending, visit } = await setUp();
    const elsewhere = await startAuthorizationServer();
    const query = await visit();
    as.routes['POST /token'] = { status: 307, headers: { location: `${elsewhere.origin}/token` }, text: '' };
    await expect(finishAuthorization(context, pending, query)).rejects.toMatchObject({
      reason: 'redirected',
    });
    expect(elsewhere.requests).toEqual([]);
  });
});
