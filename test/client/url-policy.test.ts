import { describe, expect, it } from 'vitest';
import { requireUrl } from '../../src/client/index.ts';
import { canonicalServerUrl, isLocalAddress } from '../../src/client/url-policy.ts';

describe('a URL from a server', () => {
  it.each(['https://x.example/a?b=c', 'http://127.0.0.1:9/a', 'http://[::1]:9/', 'http://localhost/'])(
    'may be %s',
    (url) => {
      expect(requireUrl(url, 'It').href).toBe(url);
    },
  );

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///x',
    'vbscript:x',
    'ftp://x/',
    '--flag',
    '/path',
    '',
    'http://x.example/',
    'http://x/$(calc)',
    'https://x/"&calc&"',
    'https://x/\n',
    ' https://x/',
    'https://x/`id`',
    'https://ex\u00e4mple.com/',
    'https://u:p@x/',
    'https://x/#f',
  ])('may not be %j (T-182, A12-03)', (url) => {
    expect(() => requireUrl(url, 'The thing')).toThrow(/^The thing .* is refused: /);
  });

  it('that is not there is missing', () => {
    expect(() => requireUrl(undefined, 'The thing')).toThrow(/^The thing is missing\.$/);
  });

  it('may be http elsewhere only where the caller takes the danger', () => {
    expect(requireUrl('http://x.example/', 'It', { dangerouslyAllowHttp: true }).protocol).toBe('http:');
    expect(() => requireUrl('file:///x', 'It', { dangerouslyAllowHttp: true })).toThrow(
      'only http and https',
    );
  });

  it('may not lead into the local network where the server is outside of it (T-185, A12-01)', () => {
    expect(() => requireUrl('https://10.0.0.1/', 'It', { allowLocal: false })).toThrow('local network');
    expect(() => requireUrl('http://localhost:1/', 'It', { allowLocal: false })).toThrow('local network');
    expect(requireUrl('https://x.example/', 'It', { allowLocal: false }).host).toBe('x.example');
  });
});

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

describe('local address', () => {
  const hostname = (host: string): string => new URL(`https://${host}`).hostname;

  describe('a local address', () => {
    it.each([
      'localhost',
      'localhost.',
      'a.localhost',
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.9.9',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[fd00::1]',
      '[fe80::1]',
    ])('is %s (T-185)', (host) => {
      expect(isLocalAddress(hostname(host))).toBe(true);
    });

    it.each([
      'example.com',
      '172.32.0.1',
      '100.128.0.1',
      '8.8.8.8',
      '[2001:db8::1]',
      'fd.example',
      '10.example.com',
    ])('is not %s', (host) => {
      expect(isLocalAddress(hostname(host))).toBe(false);
    });
  });
});
