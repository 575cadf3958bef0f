import { describe, expect, it } from 'vitest';
import { parseJsonWithComments } from '../../../../src/doctor/machine/hosts/json-with-comments.ts';

describe('JSON with comments', () => {
  it.each([
    ['{"a":1,}', { a: 1 }],
    ['[1, 2, /* last */ ]', [1, 2]],
    ['{ // a note\n "url": "https://a/b" }', { url: 'https://a/b' }],
    ['{"a":"x // no comment, } /* nor this */"}', { a: 'x // no comment, } /* nor this */' }],
    ['\uFEFF{"a":"\\"// still text"}', { a: '"// still text' }],
    ['{"a":[1,], // end\n}', { a: [1] }],
  ])('%s is read', (text, value) => {
    expect(parseJsonWithComments(text)).toEqual(value);
  });

  it.each(['{"a" 1}', '{', '{"a": 1 "b": 2}'])('%s is refused', (text) => {
    expect(() => parseJsonWithComments(text)).toThrow(SyntaxError);
  });
});
