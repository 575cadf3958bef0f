import { describe, expect, it } from 'vitest';
import { describeDifference, quote, quoteWords } from '../../src/client/quote.ts';

describe('a foreign text in a message', () => {
  it('is quoted, ASCII only and cut', () => {
    expect(quote('a"b\u001b[31m\u202e')).toBe('"a\\"b\\u001b[31m\\u202e"');
    expect(quote('x'.repeat(5000)).length).toBeLessThan(250);
    expect(quote({ a: 1 })).toBe('"{\\"a\\":1}"');
    expect(quote(undefined)).toBe('"undefined"');
  });

  it('for people is shown as it is written, on one line, without what cannot be seen (T-190)', () => {
    expect(quoteWords('Requête – refusée\r\n \u001b[31m\u202e\u200b"now"')).toBe(
      '"Requête – refusée [31m\\"now\\""',
    );
    expect(quoteWords('é'.repeat(5000))).toHaveLength(205);
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
