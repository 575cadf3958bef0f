import { describe, expect, it } from 'vitest';
import { buildProtectedResource } from '../../src/resource-server/protected-resource.ts';

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
