import { describe, expect, it } from 'vitest';
import { parseChallenges } from '../../src/oauth/challenge.ts';
import {
  buildProtectedResource,
  describeRefusal,
  type RefusalReason,
} from '../../src/resource-server/challenge.ts';

const resourceMetadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';
const context = {
  resourceMetadataUrl,
  baselineScopes: ['notes:read'],
  requiredScopes: ['notes:read', 'notes:write'],
};

const table: [RefusalReason, number, string | undefined, string | undefined][] = [
  ['no_credentials', 401, undefined, 'notes:read'],
  ['two_authorization_headers', 400, 'invalid_request', undefined],
  ['token_also_in_query', 400, 'invalid_request', undefined],
  ['malformed_token', 401, 'invalid_token', 'notes:read'],
  ['unusable_token', 401, 'invalid_token', 'notes:read'],
  ['wrong_audience', 401, 'invalid_token', 'notes:read'],
  ['other_server_chosen', 403, 'invalid_token', 'notes:read'],
  ['bound_token_as_bearer', 401, 'invalid_token', 'notes:read'],
  ['unbound_token_with_proof', 401, 'invalid_token', 'notes:read'],
  ['unbound_token', 401, 'invalid_token', 'notes:read'],
  ['unusable_proof', 401, 'invalid_dpop_proof', 'notes:read'],
  ['nonce_needed', 401, 'use_dpop_nonce', 'notes:read'],
  ['insufficient_scope', 403, 'insufficient_scope', 'notes:read notes:write'],
];

describe('a refusal', () => {
  it.each(table)(
    'for %s is %s, error %s, scope %s (A8-03, A8-04, A8-09, A8-10)',
    (reason, status, error, scope) => {
      const refusal = describeRefusal(reason, context);
      const [challenge, ...more] = parseChallenges(refusal.challenge);
      expect(more).toEqual([]);
      expect(refusal.status).toBe(status);
      expect(challenge?.scheme).toBe('bearer');
      expect(challenge?.parameters.error).toBe(error);
      expect(challenge?.parameters.scope).toBe(scope);
      expect(challenge?.parameters.resource_metadata).toBe(resourceMetadataUrl);
      expect(JSON.parse(refusal.body)).toEqual({
        error: error ?? 'unauthorized',
        error_description: expect.stringMatching(/\.$/),
      });
      expect('error_description' in (challenge?.parameters ?? {})).toBe(error !== undefined);
    },
  );

  it('names no scope where the resource has no baseline', () => {
    const { challenge } = describeRefusal('no_credentials', { ...context, baselineScopes: [] });
    expect(challenge).toBe(`Bearer resource_metadata="${resourceMetadataUrl}"`);
  });

  it('keeps quotes and line breaks out of the header, whatever the scopes are (A8-09, T-102)', () => {
    const { challenge } = describeRefusal('insufficient_scope', {
      ...context,
      requiredScopes: ['a", error="none', 'b\r\nSet-Cookie: c=d'],
    });
    expect(challenge).not.toMatch(/[\r\n]/);
    expect(parseChallenges(challenge)).toHaveLength(1);
    expect(parseChallenges(challenge)[0]?.parameters.error).toBe('insufficient_scope');
  });
});

describe('a refusal where tokens may be bound to a key', () => {
  const both = { ...context, dpop: { required: false } };
  const challengesFor = (...given: Parameters<typeof describeRefusal>) =>
    parseChallenges(describeRefusal(...given).challenge).map(({ scheme, parameters }) => ({
      scheme,
      ...parameters,
    }));
  const algs = 'ES256 Ed25519 EdDSA';

  it('names both schemes, the one that was used first and with the error; Bearer where none was (A13-09, A8-09)', () => {
    expect(challengesFor('no_credentials', both)).toEqual([
      { scheme: 'bearer', scope: 'notes:read', resource_metadata: resourceMetadataUrl },
      { scheme: 'dpop', algs },
    ]);
    const description = { error_description: expect.stringContaining('DPoP-Nonce') };
    expect(challengesFor('nonce_needed', both, 'DPoP')).toEqual([
      {
        scheme: 'dpop',
        error: 'use_dpop_nonce',
        ...description,
        scope: 'notes:read',
        resource_metadata: resourceMetadataUrl,
        algs,
      },
      { scheme: 'bearer', resource_metadata: resourceMetadataUrl },
    ]);
  });

  it('names the scheme that was used alone where another would not help (A8-04, A13-09)', () => {
    const schemes = (...given: Parameters<typeof describeRefusal>) =>
      challengesFor(...given).map(({ scheme }) => scheme);
    expect(schemes('insufficient_scope', both, 'DPoP')).toEqual(['dpop']);
    expect(schemes('insufficient_scope', both)).toEqual(['bearer']);
    expect(schemes('token_also_in_query', both)).toEqual(['bearer']);
  });

  it('names DPoP alone where no other token is taken (A13-09)', () => {
    const required = { ...context, dpop: { required: true } };
    expect(challengesFor('no_credentials', required)).toEqual([
      { scheme: 'dpop', scope: 'notes:read', resource_metadata: resourceMetadataUrl, algs },
    ]);
    expect(challengesFor('unbound_token', required).map(({ scheme }) => scheme)).toEqual(['dpop']);
  });
});

const description = {
  resource: 'https://mcp.example.com/mcp',
  authorizationServers: ['https://mcp.example.com'],
  scopesSupported: ['notes:read', 'offline_access'],
  name: 'Notes',
};

describe('the metadata of a protected resource', () => {
  it('names the resource, who issues its tokens, and how to send them (A3-01, A3-12)', () => {
    expect(buildProtectedResource({ ...description, documentationUrl: 'https://example.com/docs' })).toEqual({
      resource: 'https://mcp.example.com/mcp',
      authorization_servers: ['https://mcp.example.com'],
      scopes_supported: ['notes:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'Notes',
      resource_documentation: 'https://example.com/docs',
    });
  });

  it('lists the scopes to begin with and never offline_access (A3-10, A3-11)', () => {
    expect(buildProtectedResource(description).scopes_supported).toEqual(['notes:read']);
  });

  it('leaves out what there is not', () => {
    expect('resource_documentation' in buildProtectedResource(description)).toBe(false);
  });

  it('is refused without an authorization server (A3-01)', () => {
    expect(() => buildProtectedResource({ ...description, authorizationServers: [] })).toThrow(
      'at least one authorization server',
    );
  });

  it('says what proofs of bound tokens may be signed with, and whether no other tokens are taken (A13-09)', () => {
    const algorithms = { dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'] };
    const build = (required: boolean) => buildProtectedResource({ ...description, dpop: { required } });
    expect(build(false)).toMatchObject(algorithms);
    expect('dpop_bound_access_tokens_required' in build(false)).toBe(false);
    expect(build(true)).toMatchObject({ ...algorithms, dpop_bound_access_tokens_required: true });
    expect('dpop_signing_alg_values_supported' in buildProtectedResource(description)).toBe(false);
  });
});
