import { describe, expect, it } from 'vitest';
import { authorizationBaseUrl, fallbackEndpoints } from '../../src/oauth/default-endpoints.ts';

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
