import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  isExactNumber,
  isId,
  jsonLine,
  markJson,
  parseExact,
  plainJson,
  unmarkedJson,
} from '../../src/collections/exact-json.ts';

const written = (text: string) => JSON.stringify(parseExact(text).value);

describe('exact JSON', () => {
  it.each([
    '1234567890123456789',
    '-9223372036854775808',
    '9007199254740993',
    '1e400',
    '1E5',
    '1.0',
    '0.10',
    '-0',
    '-0.0',
    '0.1234567890123456789',
    '100000000000000000000000',
    '1e-7',
    '0.0000001',
    '-0.00000025',
    '12345678901234567890123456789012345678901234567890123456789012345678901234567890',
  ])('%s is written as it was read, wherever it stands (FA-40)', (number) => {
    for (const text of [
      `{"a":${number}}`,
      `[${number},${number}]`,
      `{"a":{"b":[0,${number}]},"id":${number}}`,
    ])
      expect(written(text)).toBe(text);
    expect(written(number)).toBe(number);
    expect(written(`{ "a" :\n ${number} }`)).toBe(`{"a":${number}}`);
  });

  it.each([
    '{"\\u2028":1.0,"\\ud83d":1e5}',
    '{"a":"\\"","b":[1.0,"\\\\",1.0,": 1.0"]}',
    '["[1.0","\\\\\\"",-0,"\\\\"]',
  ])('Texts around such numbers stay as they are: %s', (text) => {
    const plain = JSON.stringify(
      JSON.parse(text, (_name, member) => (typeof member === 'number' ? 7 : member)),
    );
    expect(written(text).replaceAll(/(?<=[:,[])(?:1\.0|1e5|-0)(?=[,}\]])/g, '7')).toBe(plain);
  });

  it.each([
    ['b\\', 'b\n'],
    ['}\\', '}"'],
    [' \\', ' "'],
    ['\\u0', '\u0001\u0002\u0003'],
    ['\\', '\ud800'],
    ['~0\\', '~1~2~."\n~'],
  ])(
    'After a name %j, a name %j is what was sent, as often as it is parsed (FA-40, FA-42)',
    (before, name) => {
      for (const given of [before, name, before, name]) {
        const message = { [`first ${before}${name}`]: 1, [given]: 'a\\n: "', id: 1 };
        const text = JSON.stringify(message);
        expect(written(text)).toBe(text);
        expect(parseExact(text)).toEqual({ value: message });
        const marked = markJson(`[${text},{"b":1.0}]`);
        expect(unmarkedJson(JSON.stringify(JSON.parse(marked)))).toBe(`[${text},{"b":1.0}]`);
      }
    },
  );

  it('A name of millions of escapes comes back whole (FA-40)', () => {
    const long = `{"${'\\n\\ud800'.repeat(1_000_000)}":1.0}`;
    expect(unmarkedJson(markJson(long)) === long).toBe(true);
  });

  it('A marked name or number may stand in other text, with or without quotes (FA-40)', () => {
    const [name, number] =
      Object.entries(JSON.parse(markJson('{"a\\nb":1.0}')) as Record<string, string>)[0] ?? [];
    expect(unmarkedJson(`${name}?: ${number}, "${number}""${name}"`)).toBe('"a\\nb"?: 1.0, 1.0"a\\nb"');
  });

  it('A name with escapes keeps its place, its value and its numbers, and the last of equal names counts (FA-40)', () => {
    const text =
      '{"2":0,"\\u0061":1.0,"\\n" :{"\\"":1e5},"__proto\\u005f_":3,"\\u0031":4,"a":5,"\\n":{"\\\\":6}}';
    expect(written(text)).toBe('{"1":4,"2":0,"a":5,"\\n":{"\\\\":6},"__proto__":3}');
    expect(Object.keys(plainJson(parseExact(text).value) as object)).toContain('__proto__');
    expect(parseExact('{"\\n":[{"\\n":1}]}', 1)).toBeUndefined();
    expect(parseExact('{"\\n":[{"\\n":1}]}', 2)).toEqual({ value: { '\n': [{ '\n': 1 }] } });
  });

  it.each(['{"a":1.5,"b":"1e400, :1.0","c":-1,"d":0.25,"e":123456789012345}', '[true,null,"-0"]', '[0.1]'])(
    '%s holds no number that has to be remembered',
    (text) => {
      const read = parseExact(text);
      expect(read).toEqual({ value: JSON.parse(text) });
      expect(written(text)).toBe(text);
    },
  );

  it('Equal numbers in members that tell messages apart are one, and no others', () => {
    const [one, other] = ['{"id":12345678901234567890}', '{"requestId":12345678901234567890}'].map(
      (text) => Object.values(parseExact(text).value as object)[0],
    );
    expect(isExactNumber(one)).toBe(true);
    expect(one).toBe(other);
    const [third] = Object.values(parseExact('{"id":12345678901234567891}').value as object);
    expect(third).not.toBe(one);
    const many = parseExact(`[${Array(3000).fill('{"id":12345678901234567890}').join(',')}]`).value;
    expect(new Set((many as { id: unknown }[]).map(({ id }) => id)).size).toBe(2001);
  });

  it('An id is a text or an integer, however large', () => {
    const idOf = (text: string) => (parseExact(text).value as { id: unknown }).id;
    expect(
      ['{"id":12345678901234567890}', '{"id":1e20}', '{"id":"a"}', '{"id":-3}'].map(idOf).map(isId),
    ).toEqual(Array(4).fill(true));
    expect(
      ['{"id":1.5}', '{"id":1e400}', '{"id":null}', '{"id":1.50}', '{"id":{}}'].map(idOf).map(isId),
    ).toEqual(Array(5).fill(false));
  });

  it('A plain copy has the nearest numbers, and every member that was there', () => {
    const { value } = parseExact('{"a":[9007199254740993,1.0,1e400],"__proto__":{"b":-0.0},"c":"x"}');
    const plain = plainJson(value) as Record<string, unknown>;
    expect(plain.a).toEqual([9007199254740992, 1, Number.POSITIVE_INFINITY]);
    expect(Object.keys(plain)).toEqual(['a', '__proto__', 'c']);
    expect(Object.getOwnPropertyDescriptor(plain, '__proto__')?.value).toEqual({ b: -0 });
  });

  it('An object that looks like a number of this kind is an object', () => {
    const { value } = parseExact('{"a":{"rawJSON":"7"}}');
    expect(isExactNumber((value as { a: unknown }).a)).toBe(false);
  });
});

it('A line of JSON holds no character that a reader may take for its end (FA-48, B1-03, T-217)', () => {
  const value = { uri: 'note://a\u2028b\u2029c\u0085d\ne' };
  const line = jsonLine(value);
  expect(line).toBe('{"uri":"note://a\\u2028b\\u2029c\\u0085d\\ne"}\n');
  expect(JSON.parse(line)).toEqual(value);
});

describe('The canonical text of a JSON value', () => {
  it('is the same whatever the order of the members, and differs for any other value', () => {
    expect(canonicalJson({ b: [1, { d: 1, c: null }], a: 'x' })).toBe('{"a":"x","b":[1,{"c":null,"d":1}]}');
    expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: '1' }));
  });

  it('has numbers as they were written (FA-40)', () => {
    const { value } = parseExact('{"n":12345678901234567890,"m":1.50}');
    expect(canonicalJson(value)).toBe('{"m":1.50,"n":12345678901234567890}');
  });
});
