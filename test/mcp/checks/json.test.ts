import { describe, expect, it } from 'vitest';
import { maxNesting, maxValues, parseJson } from '../../../src/mcp/checks/json.ts';
import { patience } from '../../support/patience.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('a body', () => {
  it.each([
    ['an object', '{"a":[1,"é😀\\ud83d\\ude00"]}'],
    ['null', 'null'],
    ['brackets in a string', `"${'['.repeat(1000)}\\"${'{'.repeat(1000)}"`],
    ['as deep as allowed', nested(maxNesting)],
    ['an escaped backslash before what looks like an escape', '"\\\\ud800"'],
  ])('of JSON is read: %s', (_what, text) => {
    expect(parseJson(bytes(text))).toEqual({ value: JSON.parse(text) });
  });

  it.each([
    ['nothing', bytes('')],
    ['half of an object', bytes('{"a":')],
    ['two values', bytes('{} {}')],
    ['a byte order mark', bytes('\ufeff{}')],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a NUL byte', bytes('{"a":"\0"}')],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an escaped lone surrogate', bytes('{"a":["\\uD800"]}')],
    ['an escaped lone surrogate in a name', bytes('{"\\udc00":1}')],
    ['NaN', bytes('NaN')],
    ['a comment', bytes('{}//')],
  ])('of %s is not JSON (B3-02, T-138)', (_what, body) => {
    expect(parseJson(body)).toEqual({ reason: 'not_json' });
  });

  it.each([
    ['arrays', nested(maxNesting + 1)],
    ['objects', '{"a":'.repeat(maxNesting + 1)],
    ['2 million brackets', '['.repeat(2_000_000)],
  ])('that nests too deeply is refused before anything recurses: %s (T-135)', (_what, text) => {
    expect(parseJson(bytes(text))).toEqual({ reason: 'nested_too_deep' });
  });

  it('with too many values is refused before any is built (T-135)', () => {
    const list = (count: number): Uint8Array => bytes(`["a,b"${',1'.repeat(count - 1)}]`);
    expect(parseJson(list(maxValues))).toEqual({ reason: 'too_many_values' });
    expect(parseJson(list(maxValues - 1))).toHaveProperty('value');
  });

  it('of 4 MiB is read without a stall, whatever its shape (T-135)', () => {
    for (const text of [
      `[${'1,'.repeat(2_000_000)}1]`,
      `"${'\\u0061'.repeat(690_000)}"`,
      `[${'"\\ud83d",'.repeat(1)}1]`,
    ]) {
      const started = performance.now();
      parseJson(bytes(text));
      expect(performance.now() - started).toBeLessThan(patience(1000));
    }
  });

  it('gives a __proto__ member as a member, and changes no prototype (T-137)', () => {
    const parsed = parseJson(bytes('{"__proto__":{"polluted":true}}'));
    expect(Object.keys((parsed as { value: object }).value)).toEqual(['__proto__']);
    expect('polluted' in {}).toBe(false);
  });
});
