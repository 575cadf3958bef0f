import { describe, expect, it } from 'vitest';
import { describeDifference, quote } from '../../src/client/quote.ts';

describe('a foreign text in a message', () => {
  it('is quoted, ASCII only and cut', () => {
    expect(quote('a"b\u001b[31m\u202e')).toBe('"a\\"b\\u001b[31m\\u202e"');
    expect(quote('x'.repeat(5000)).length).toBeLessThan(250);
    expect(quote({ a: 1 })).toBe('"{\\"a\\":1}"');
    expect(quote(undefined)).toBe('"undefined"');
  });
});

describe('the difference of two strings', () => {
  it.each([
    ['https://a', 'https://a/', 'differ at character 10: expected the end, found "/"'],
    ['https://a', 'https://b', 'differ at character 9: expected "a", found "b"'],
    ['https://ab', 'https://a', 'differ at character 10: expected "b", found the end'],
  ])('of %s and %s is shown with its place', (expected, found, text) => {
    expect(describeDifference(expected, found)).toContain(text);
  });
});
