import { describe, expect, it } from 'vitest';
import { canonicalHost, canonicalHostPattern, matchesHost } from '../../src/oauth/host-pattern.ts';

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
