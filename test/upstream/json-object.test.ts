import { describe, expect, it } from 'vitest';
import { asObject, asText, parseObject } from '../../src/upstream/json-object.ts';

describe('what somebody else sent as JSON', () => {
  it('is an object, or is not used', () => {
    expect([asObject({ a: 1 }), asObject([]), asObject(null), asObject('x')]).toEqual([
      { a: 1 },
      undefined,
      undefined,
      undefined,
    ]);
    expect([parseObject('{"a":1}'), parseObject('[1]'), parseObject('{')]).toEqual([
      { a: 1 },
      undefined,
      undefined,
    ]);
  });

  it('has texts, or something that is not used as one', () => {
    expect([asText('a'), asText(''), asText(1), asText(undefined)]).toEqual([
      'a',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
