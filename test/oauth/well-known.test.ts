import { describe, expect, it } from 'vitest';
import {
  authorizationBaseUrl,
  authorizationServerMetadataUrls,
  fallbackEndpoints,
  pathOf,
  protectedResourceMetadataUrls,
} from '../../src/oauth/well-known.ts';

describe('the path of a URL', () => {
  it.each([
    ['https://x.example', ''],
    ['https://x.example/', ''],
    ['https://x.example///', '///'],
    ['https://x.example/a', '/a'],
    ['https://x.example/a/b/', '/a/b'],
    ['https://x.example/a/b//', '/a/b//'],
    ['https://x.example//a', '//a'],
    ['https://x.example/a/../b/?c/#d/', '/b'],
  ])('of %s is %j, without its one trailing slash (FA-14)', (url, path) => {
    expect(pathOf(url)).toBe(path);
    expect(pathOf(new URL(url))).toBe(path);
  });
});

describe('the metadata of an authorization server', () => {
  it.each(['https://as.example', 'https://as.example/', 'HTTPS://AS.Example:443'])(
    'without a path is looked for as RFC 8414, then as OpenID Connect: %s (A4-02)',
    (issuer) => {
      expect(authorizationServerMetadataUrls(issuer)).toEqual([
        'https://as.example/.well-known/oauth-authorization-server',
        'https://as.example/.well-known/openid-configuration',
      ]);
    },
  );

  it.each(['https://as.example/tenant1', 'https://as.example/tenant1/'])(
    'with a path is looked for in three places, never at the bare root: %s (A4-03)',
    (issuer) => {
      expect(authorizationServerMetadataUrls(issuer)).toEqual([
        'https://as.example/.well-known/oauth-authorization-server/tenant1',
        'https://as.example/.well-known/openid-configuration/tenant1',
        'https://as.example/tenant1/.well-known/openid-configuration',
      ]);
    },
  );

  it('keeps each segment of a longer path, and the port (A4-03)', () => {
    expect(authorizationServerMetadataUrls('http://localhost:3000/a/b')).toEqual([
      'http://localhost:3000/.well-known/oauth-authorization-server/a/b',
      'http://localhost:3000/.well-known/openid-configuration/a/b',
      'http://localhost:3000/a/b/.well-known/openid-configuration',
    ]);
  });
});

describe('the metadata of a protected resource', () => {
  const root = 'https://mcp.example/.well-known/oauth-protected-resource';

  it.each([
    ['https://mcp.example', [root]],
    ['https://mcp.example/', [root]],
    ['https://mcp.example/mcp', [`${root}/mcp`, root]],
    ['https://mcp.example/mcp/', [`${root}/mcp`, root]],
    ['https://mcp.example/a/b', [`${root}/a/b`, root]],
    ['https://mcp.example/mcp?tenant=a', [`${root}/mcp?tenant=a`, root]],
    ['https://mcp.example/?tenant=a', [`${root}?tenant=a`, root]],
  ])('of %s is looked for behind the path, then at the root (A3-05)', (resource, urls) => {
    expect(protectedResourceMetadataUrls(resource)).toEqual(urls);
  });
});

describe('the authorization base URL', () => {
  it.each([
    ['https://api.example.com/v1/mcp', 'https://api.example.com'],
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com/v1/mcp?tenant=a#top', 'https://api.example.com'],
    ['https://api.example.com:8443/mcp', 'https://api.example.com:8443'],
    ['https://api.example.com:443/mcp', 'https://api.example.com'],
    ['HTTPS://API.Example.COM/MCP', 'https://api.example.com'],
    ['http://[::1]:3000/mcp', 'http://[::1]:3000'],
  ])('of %s is the URL without its path: %s (A2-01)', (mcpUrl, base) => {
    expect(authorizationBaseUrl(mcpUrl)).toBe(base);
  });
});

describe('a server without metadata', () => {
  it.each([
    'https://api.example.com/v1/mcp',
    'https://api.example.com',
    'https://api.example.com/v1/mcp/?a=b',
  ])(
    'has its endpoints at the default paths of the base URL, without a trailing slash: %s (A2-05)',
    (mcpUrl) => {
      expect(fallbackEndpoints(mcpUrl)).toEqual({
        authorization_endpoint: 'https://api.example.com/authorize',
        token_endpoint: 'https://api.example.com/token',
        registration_endpoint: 'https://api.example.com/register',
      });
    },
  );
});
