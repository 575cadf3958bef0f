import { describe, expect, it } from 'vitest';
import { canonicalServerUrl } from '../../src/client/server-url.ts';

describe('the URL a login is kept under', () => {
  it.each([
    ['https://MCP.example:443/mcp', 'https://mcp.example/mcp'],
    ['https://mcp.example/', 'https://mcp.example'],
    ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000/mcp'],
  ])('%s is %s (A7-01)', (given, canonical) => {
    expect(canonicalServerUrl(given)).toBe(canonical);
  });

  it('is none where it is no URL of a server (T-182)', () => {
    expect(() => canonicalServerUrl('javascript:alert(1)')).toThrow('is refused');
    expect(() => canonicalServerUrl('http://mcp.example/')).toThrow('use https');
    expect(canonicalServerUrl('http://mcp.example/mcp', { dangerouslyAllowHttp: true })).toBe(
      'http://mcp.example/mcp',
    );
  });
});
