import { describe, expect, it } from 'vitest';
import { requireUrl } from '../../src/client/index.ts';

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
