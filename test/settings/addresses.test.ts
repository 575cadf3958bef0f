import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';

function problemsOf(input: unknown): readonly string[] {
  try {
    parseSettings(input);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.problems;
    throw error;
  }
  return [];
}

describe('lists of addresses', () => {
  it.each(['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', 'loopback', 'uniquelocal'])(
    'take %s as a trusted proxy',
    (proxy) => {
      expect(parseSettings({ trustedProxies: [proxy] }).trustedProxies).toEqual([proxy]);
    },
  );

  it.each(['', 'proxy.example.com', '10.0.0.0/99', '*'])('refuse %j as a trusted proxy', (proxy) => {
    expect(problemsOf({ trustedProxies: [proxy] })).toEqual([
      'trustedProxies.0: must be an address, a CIDR range, loopback, linklocal or uniquelocal',
    ]);
  });

  it.each(['https://app.example.com', 'http://localhost:5173'])('take %s as an origin', (origin) => {
    expect(parseSettings({ allowedOrigins: [origin] }).allowedOrigins).toEqual([origin]);
  });

  it.each(['https://app.example.com/', 'https://App.example.com', 'app.example.com', '*', 'null', ''])(
    'refuse %j as an origin: no browser sends it so',
    (origin) => {
      expect(problemsOf({ allowedOrigins: [origin] })).toEqual([
        expect.stringContaining('must be an origin such as https://app.example.com'),
      ]);
    },
  );
});

describe('addresses that many people share', () => {
  it.each(['203.0.113.7', '203.0.113.0/24', '2001:db8::/32', '2001:db8::1'])('may be %s', (range) => {
    expect(parseSettings({ limits: { sharedAddresses: [range] } }).limits.sharedAddresses).toEqual([range]);
  });

  it.each(['', '203.0.113', '203.0.113.0/33', 'example.com', 'loopback', '7'])('may not be %j', (range) => {
    expect(problemsOf({ limits: { sharedAddresses: [range] } })).toEqual([
      'limits.sharedAddresses.0: must be an address or a CIDR range such as 203.0.113.0/24',
    ]);
  });
});

describe('the public URL', () => {
  it.each([
    ['https://mcp.example.com', 'https://mcp.example.com'],
    ['https://mcp.example.com/', 'https://mcp.example.com'],
    ['https://MCP.Example.com:443/base//', 'https://mcp.example.com/base'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('%s is kept as %s', (given, kept) => {
    expect(parseSettings({ publicUrl: given }).publicUrl).toBe(kept);
  });

  it.each([
    ['', /absolute URL/],
    ['mcp.example.com', /absolute URL/],
    ['/mcp', /absolute URL/],
    ['javascript:alert(1)', /absolute URL/],
    ['http://mcp.example.com', /must begin with https/],
    ['http://127.0.0.1.example.com', /must begin with https/],
    ['https://mcp.example.com?x=1', /no query, fragment or user name/],
    ['https://mcp.example.com#x', /no query, fragment or user name/],
    ['https://me:secret@mcp.example.com', /no query, fragment or user name/],
  ])('%j is refused, and not repeated', (given, fault) => {
    const [problem, ...others] = problemsOf({ publicUrl: given });
    expect(problem).toMatch(fault);
    expect(problem).not.toContain('secret');
    expect(others).toEqual([]);
  });
});
