import type { TokenEndpointResponse } from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { revokeCredential } from '../../../src/client/index.ts';
import { createDpopKey } from '../../../src/client/tokens/dpop.ts';
import {
  credentialIssuer,
  requestTokens,
  type TokenRequest,
  toCredential,
} from '../../../src/client/tokens/token-request.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { checkProof } from '../support/proofs.ts';
import { serverMetadata, startAuthorizationServer } from '../support/protected-server.ts';
import { type Answer, startServer } from '../support/scripted-server.ts';

async function setUp(answer: Answer | (() => Answer)) {
  const server = await startServer({ 'POST /token': answer });
  const context = testContext();
  const request = (more: Partial<TokenRequest> = {}) =>
    requestTokens(context, {
      authorizationServer: { issuer: server.origin, token_endpoint: `${server.origin}/token` },
      client: { clientId: 'client' },
      grantType: 'urn:example:grant',
      parameters: { assertion: 'very-secret' },
      ...more,
    });
  const proofs = () => server.requests.map((seen) => checkProof(seen, server.origin, startOfTime));
  return { server, request, proofs };
}

const good: Answer = { json: { access_token: 'at', token_type: 'DPoP' } };
const wantsNonce = (nonce: string): Answer => ({
  status: 400,
  headers: { 'dpop-nonce': nonce },
  json: { error: 'use_dpop_nonce' },
});

describe('a token request', () => {
  it('is a form with the grant and its parameters', async () => {
    const { server, request } = await setUp({ json: { access_token: 'at', token_type: 'Bearer' } });
    expect(await request()).toMatchObject({ kind: 'issued', tokens: { access_token: 'at' } });
    expect(Object.fromEntries(new URLSearchParams(server.requests[0]?.body))).toEqual({
      grant_type: 'urn:example:grant',
      assertion: 'very-secret',
      client_id: 'client',
    });
    expect(server.requests[0]?.headers.dpop).toBeUndefined();
  });

  it('with a key carries a proof, and is repeated once with the nonce of the server (A13-09)', async () => {
    const { server, request, proofs } = await setUp(() => {
      const [last] = proofs().slice(-1);
      return last?.nonce === 'n1' ? good : wantsNonce('n1');
    });
    const dpopKey = await createDpopKey();
    expect(await request({ dpopKey })).toMatchObject({ kind: 'issued' });
    expect(await request({ dpopKey })).toMatchObject({ kind: 'issued' });
    expect(proofs().map(({ nonce, ath }) => [nonce, ath])).toEqual([
      [undefined, undefined],
      ['n1', undefined],
      ['n1', undefined],
    ]);
    expect(new Set(proofs().map(({ jti }) => jti)).size).toBe(3);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  });

  it('is not repeated for a server that always wants another nonce (T-186)', async () => {
    let nonce = 0;
    const { server, request } = await setUp(() => wantsNonce(`n${++nonce}`));
    const answer = await request({ dpopKey: await createDpopKey() });
    expect(answer).toMatchObject({ kind: 'refused', refusal: { error: 'use_dpop_nonce' } });
    expect(server.requests).toHaveLength(2);
  });

  it('that is refused says who refused, and repeats nothing of what was sent (T-191)', async () => {
    const { server, request } = await setUp({ status: 400, json: { error: 'invalid_grant' } });
    const answer = await request({ name: 'identity provider' });
    expect(answer).toEqual({
      kind: 'refused',
      refusal: { error: 'invalid_grant', message: 'The identity provider refused: "invalid_grant".' },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [['n_a'], 'issued'],
    [[], 'refused'],
  ] as const)('takes a token of another type only where it is told to: %j', async (otherTokenTypes, kind) => {
    const { request } = await setUp({ json: { access_token: 'x', token_type: 'N_A' } });
    expect(await request({ otherTokenTypes })).toMatchObject({ kind });
  });

  it('goes to no endpoint in clear text but on loopback', async () => {
    const { request } = await setUp(good);
    const authorizationServer = { issuer: 'https://as.example', token_endpoint: 'http://as.example/token' };
    await expect(request({ authorizationServer })).rejects.toMatchObject({ reason: 'bad_url' });
  });
});

describe('revocation', () => {
  it('ends the refresh token at its own issuer', async () => {
    const as = await startAuthorizationServer();
    as.refreshTokens.add('rt');
    const credential = testCredential({ issuer: as.origin });
    expect(await revokeCredential(testContext(), credential, testRegistration())).toBe(true);
    expect(as.refreshTokens.size).toBe(0);
    expect(Object.fromEntries(new URLSearchParams(as.requests[0]?.body))).toEqual({
      token: 'rt',
      token_type_hint: 'refresh_token',
      client_id: 'client',
    });
  });

  it('ends the access token where there is no refresh token', async () => {
    const as = await startAuthorizationServer();
    await revokeCredential(
      testContext(),
      testCredential({ issuer: as.origin, refreshToken: undefined }),
      testRegistration(),
    );
    expect(as.requests[0]?.body).toContain('token=at');
  });

  it('is not possible without an endpoint, and says so when refused', async () => {
    const as = await startAuthorizationServer();
    const credential = testCredential({ issuer: as.origin });
    const { revocation_endpoint: _, ...without } = credential.authorizationServer;
    const none = { ...credential, authorizationServer: without };
    expect(await revokeCredential(testContext(), none, testRegistration())).toBe(false);
    as.routes['POST /revoke'] = { status: 400, json: { error: 'unsupported_token_type' } };
    await expect(revokeCredential(testContext(), credential, testRegistration())).rejects.toMatchObject({
      reason: 'token_refused',
      message: expect.not.stringContaining('rt"'),
    });
  });
});

describe('token response', () => {
  const key = { kty: 'EC', alg: 'ES256' };
  const { authorizationServer, resource, clientId } = testCredential();
  const asked = { authorizationServer, resource, clientId, now: startOfTime };
  const answer = (more: Partial<TokenEndpointResponse> = {}): TokenEndpointResponse => ({
    access_token: 'at',
    token_type: 'bearer',
    ...more,
  });

  describe('a credential made of a token response', () => {
    it.each([
      [3600, 3600, 3540],
      [120, 120, 60],
      [30, 30, 15],
      [0, 0, 0],
    ])(
      'that lives for %d s ends then, and is to be renewed a minute before, or in the middle of a short life (A9-05)',
      (lifetime, end, renewal) => {
        expect(toCredential(answer({ expires_in: lifetime }), asked)).toMatchObject({
          expiresAt: startOfTime + end,
          renewAt: startOfTime + renewal,
        });
      },
    );

    it('that does not say how long it lives has no end (A9-05)', () => {
      const credential = toCredential(answer(), asked);
      expect(credential).not.toHaveProperty('expiresAt');
      expect(credential).not.toHaveProperty('renewAt');
    });

    it('has the scopes of the answer, else those asked for', () => {
      const scopes = ['read', 'write'];
      expect(toCredential(answer(), { ...asked, scopes }).scopes).toEqual(scopes);
      expect(toCredential(answer({ scope: 'read' }), { ...asked, scopes }).scopes).toEqual(['read']);
    });

    it('has no scope in it that no scope can be, such as what a terminal would act on (T-190)', () => {
      const scope = 'read \u001b]8;;https://evil\u0007 \u202etirw "x"';
      expect(toCredential(answer({ scope }), asked).scopes).toEqual(['read']);
    });

    it.each([
      ['bearer', undefined, true],
      ['dpop', key, true],
      ['bearer', key, false],
      ['dpop', undefined, false],
      ['n_a', undefined, false],
    ] as const)('of type %s for the key %j: %s (A13-09)', (type, dpopKey, isGood) => {
      const make = () => toCredential(answer({ token_type: type as 'bearer' }), { ...asked, dpopKey });
      if (isGood) expect(make().dpopKey).toBe(dpopKey);
      else expect(make).toThrow(/bind the token|no bearer token/);
    });
  });

  describe('what a credential keeps of its authorization server', () => {
    it('is what renewal and revocation need', () => {
      const metadata = serverMetadata('https://as.example') as Parameters<typeof credentialIssuer>[0];
      expect(Object.keys(credentialIssuer(metadata))).toEqual([
        'issuer',
        'token_endpoint',
        'revocation_endpoint',
        'token_endpoint_auth_methods_supported',
      ]);
    });
  });
});
