import { describe, expect, it } from 'vitest';
import {
  canonicalHost,
  canonicalHostPattern,
  checkRedirectUri,
  hasAcceptedScheme,
  isLoopbackHost,
  isLoopbackRedirect,
  isPrivateUseRedirect,
  matchesHost,
  type RedirectUriFault,
} from '../../src/oauth/redirect-uri.ts';

const ofLength = (length: number): string => 'https://app.example.com/'.padEnd(length, 'a');

const faults: Record<RedirectUriFault, unknown[]> = {
  not_a_string: [
    undefined,
    null,
    1,
    {},
    ['https://app.example.com/cb'],
    new URL('https://app.example.com/cb'),
  ],
  too_long: [ofLength(2049), ofLength(100_000)],
  not_absolute: [
    '',
    '/cb',
    '//app.example.com/cb',
    'app.example.com/cb',
    'https:',
    'https://',
    'https:app.example.com/cb',
    'https:/app.example.com/cb',
    'https:///app.example.com/cb',
    'http:127.0.0.1/cb',
    'https://app.example.com:99999/cb',
    '\u00a0https://app.example.com/cb',
    'java\u200bscript:alert(1)',
  ],
  illegal_character: [
    ' javascript:alert(1)',
    '\tjavascript:alert(1)',
    '\njavascript:alert(1)',
    '\x01javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    ' https://app.example.com/cb',
    'https://app.example.com/cb ',
    'https://app.example.com/a b',
    'https://app.example.com/cb\r\nSet-Cookie: a=b',
    'https://app.example.com/\0',
    'https://app.example.com\\@evil.example/cb',
    'https:\\\\evil.example/cb',
    'https://app.example.com/"><script>',
    'https://app.example.com/{a}',
    'https://app.example.com/`',
    'https://app.example.com/a|b^c',
    'https://\u24d0pp.example.com/cb',
    'https://app.example.com\u3002evil.example/cb',
    'https://app.example.com/\u202ebc',
    'com.example.app:/\u00e9',
  ],
  forbidden_scheme: [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'JAVASCRIPT://app.example.com/%0aalert(1)',
    'data:text/html,hello',
    'Data:text/html;base64,PHA+',
    'vbscript:msgbox(1)',
    'blob:https://app.example.com/1',
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'about:blank',
    'ftp://app.example.com/cb',
    'mailto:ann@app.example.com',
    'ws://app.example.com/cb',
    'wss://app.example.com/cb',
    'ms-msdt:/id',
    'search-ms:query=x',
    'SHELL:startup',
    'jar:https://app.example.com/x',
  ],
  fragment: ['https://app.example.com/cb#a', 'https://app.example.com/cb#', 'com.example.app:/cb#a'],
  userinfo: [
    'https://ann@app.example.com/cb',
    'https://ann:secret@app.example.com/cb',
    'https://:secret@app.example.com/cb',
    'https://@app.example.com/cb',
    'https://:@app.example.com/cb',
    'https://app.example.com@evil.example/cb',
    'http://127.0.0.1:3000@evil.example/cb',
    'com.example.app://ann@host/cb',
  ],
  wildcard: ['https://*', 'https://*.example.com/cb', 'https://app.example.com/*', 'com.example.app:/*'],
  http_not_loopback: [
    'http://app.example.com/cb',
    'HTTP://app.example.com/cb',
    'http://127.0.0.1.evil/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost.evil.example/cb',
    'http://localhost./cb',
    'http://127.0.0.1./cb',
    'http://127.0.0.2/cb',
    'http://127.1/cb',
    'http://127.0.0.01/cb',
    'http://0x7f.1/cb',
    'http://0x7f000001/cb',
    'http://2130706433/cb',
    'http://0.0.0.0/cb',
    'http://%6cocalhost/cb',
    'http://\uff11\uff12\uff17.0.0.1/cb',
    'http://[::]/cb',
    'http://[::ffff:127.0.0.1]/cb',
    'http://[0:0:0:0:0:0:0:1]/cb',
    'http://192.168.0.1/cb',
  ],
};

/** What each refusal carries out. */
const ids: Record<RedirectUriFault, string> = {
  not_a_string: 'T-058',
  too_long: 'T-058',
  not_absolute: 'T-058',
  illegal_character: 'T-003',
  forbidden_scheme: 'T-003, T-058, T-214',
  fragment: 'T-058',
  userinfo: 'T-058',
  wildcard: 'T-058',
  http_not_loopback: 'A6-02, T-002, T-058',
};

const rows = (Object.keys(faults) as RedirectUriFault[]).flatMap((fault) =>
  faults[fault].map((value) => ({
    fault,
    value,
    shown: JSON.stringify(value)?.slice(0, 80),
    id: ids[fault],
  })),
);

describe('a redirect URI', () => {
  it.each(rows)('is refused as $fault: $shown ($id)', ({ fault, value }) => {
    expect(checkRedirectUri(value)).toBe(fault);
  });

  it.each([
    'https://app.example.com/cb',
    'https://app.example.com',
    'HTTPS://App.Example.com/cb',
    'https://app.example.com:8443/cb?a=b&c=%20',
    'https://app.example.com/@ann/cb',
    'https://app.example.com?to=ann@example.com',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:3000/cb',
    'http://[::1]:3000/cb',
    'http://localhost:3000/cb',
    'HTTP://LOCALHOST:3000/cb',
    'http://localhost',
    'com.example.app:/cb',
    'com.example.app://cb',
    'cursor://anysphere.cursor-retrieval/oauth/cb',
  ])('may be https, http on loopback, or a scheme of its own: %s (A6-02)', (uri) => {
    expect(checkRedirectUri(uri)).toBeUndefined();
  });

  it('may be 2,048 characters long, and no longer (T-058)', () => {
    expect(checkRedirectUri(ofLength(2048))).toBeUndefined();
    expect(checkRedirectUri(ofLength(2049))).toBe('too_long');
  });
});

describe('the scheme of a redirect URI', () => {
  it.each(['com.example.app:/cb', 'COM.Example.App:/cb', 'cursor://x', 'vscode-insiders://x', 'myapp:/cb'])(
    'is accepted if it is a domain in reverse, of a known app, or allowed: %s (FA-11, T-214)',
    (uri) => {
      expect(hasAcceptedScheme(uri, ['myapp'])).toBe(true);
    },
  );

  it.each([
    'myapp:/cb',
    'ms-settings:x',
    'x-apple.systempreferences:x',
    'ms-settings.x:y',
    'a.b:/cb',
    '.a:/cb',
    'a.:/cb',
    'shell:x',
    'cb',
    '',
  ])('is not accepted otherwise: %j (FA-11, T-214)', (uri) => {
    expect(hasAcceptedScheme(uri, ['shell'])).toBe(false);
  });
});

describe('a loopback host', () => {
  it.each(['127.0.0.1', '[::1]', 'localhost'])('is %s', (hostname) => {
    expect(isLoopbackHost(hostname)).toBe(true);
  });

  it.each(['', '127.0.0.2', '127.0.0.1.evil', '0.0.0.0', '::1', 'localhost.', 'localhost.evil', 'LOCALHOST'])(
    'is not %j',
    (hostname) => {
      expect(isLoopbackHost(hostname)).toBe(false);
    },
  );
});

describe('the kind of a redirect URI', () => {
  it.each([
    ['http://127.0.0.1:3000/cb', 'loopback'],
    ['https://localhost/cb', 'loopback'],
    ['http://[::1]/cb', 'loopback'],
    ['https://app.example.com/cb', 'web'],
    ['http://127.0.0.1.evil/cb', 'web'],
    ['com.example.app://localhost/cb', 'private use'],
    ['com.example.app:/cb', 'private use'],
    ['HTTPS://app.example.com/cb', 'web'],
    ['', 'none'],
    ['/cb', 'none'],
  ])('%s is %s', (uri, kind) => {
    expect([isLoopbackRedirect(uri), isPrivateUseRedirect(uri)]).toEqual([
      kind === 'loopback',
      kind === 'private use',
    ]);
  });
});

describe('a host', () => {
  it.each([
    ['App.Example.COM', 'app.example.com'],
    ['app.example.com.', 'app.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['ａｐｐ.example', 'app.example'],
    ['app。example', 'app.example'],
    ['127.1', '127.0.0.1'],
    ['[::1]', '[::1]'],
  ])('written %s is %s (T-078)', (written, canonical) => {
    expect(canonicalHost(written)).toBe(canonical);
  });

  it.each([
    '',
    ' ',
    'a b',
    'app.example:443',
    'app.example/x',
    'x@app.example',
    'https://app.example',
    '*.app.example',
    'a#b',
    'a?b',
  ])('is not %j', (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });
});

describe('a host pattern', () => {
  it.each([
    ['Example.com', 'example.com'],
    ['*.Example.com.', '*.example.com'],
    ['*', undefined],
    ['*.', undefined],
    ['a.*.example.com', undefined],
    ['**.example.com', undefined],
    ['https://example.com', undefined],
  ])('%s is canonically %s (T-078)', (pattern, canonical) => {
    expect(canonicalHostPattern(pattern)).toBe(canonical);
  });

  it.each([
    ['example.com', 'example.com', true],
    ['example.com', 'app.example.com', false],
    ['example.com', 'notexample.com', false],
    ['example.com', 'example.com.evil.example', false],
    ['*.example.com', 'app.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'notexample.com', false],
    ['*.example.com', 'app.example.com.evil.example', false],
  ])('%s means %s: %s (T-078)', (pattern, host, means) => {
    expect(matchesHost(pattern, host)).toBe(means);
  });
});
