import { describe, expect, it } from 'vitest';
import { buildAliases } from '../../src/app/well-known.ts';

describe('the aliases', () => {
  it('of an origin are the documents themselves and the endpoints with a slash (A4-01)', () => {
    const aliases = buildAliases('https://mcp.example.com', ['/token']);
    expect(Object.fromEntries(aliases)).toEqual({
      '/.well-known/oauth-authorization-server': '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration': '/.well-known/openid-configuration',
      '/token': '/token',
      '/token/': '/token',
    });
  });

  it('of an issuer with a path are path-inserted, appended and at the root (A4-10, A2-03, A2-07)', () => {
    const aliases = buildAliases('https://mcp.example.com/tools', ['/token']);
    expect(Object.fromEntries(aliases)).toEqual({
      '/.well-known/oauth-authorization-server': '/tools/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/tools': '/tools/.well-known/oauth-authorization-server',
      '/tools/.well-known/oauth-authorization-server': '/tools/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration': '/tools/.well-known/openid-configuration',
      '/.well-known/openid-configuration/tools': '/tools/.well-known/openid-configuration',
      '/tools/.well-known/openid-configuration': '/tools/.well-known/openid-configuration',
      '/token': '/tools/token',
      '/token/': '/tools/token',
      '/tools/token': '/tools/token',
      '/tools/token/': '/tools/token',
    });
  });
});
