import type { TokenEndpointResponse } from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { credentialIssuer, toCredential } from '../../../src/client/tokens/token-response.ts';
import { startOfTime } from '../support/context.ts';
import { testCredential } from '../support/credentials.ts';
import { serverMetadata } from '../support/protected-server.ts';

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
