import { describe, expect, it } from 'vitest';
import {
  maxExactNumbers,
  maxNames,
  maxNesting,
  maxValues,
  parseJson,
} from '../../../src/mcp/reading/json.ts';
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
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a NUL byte', bytes('{"a":"\0"}')],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['NaN', bytes('NaN')],
    ['a comment', bytes('{}//')],
  ])('of %s is not JSON (B3-02, T-138)', (_what, body) => {
    expect(parseJson(body)).toEqual({ reason: 'not_json' });
  });

  it.each([
    ['behind a byte order mark', '\ufeff{}', '{}'],
    ['with a lone surrogate as an escape', '{"a":["\\uD83D"]}', '{"a":["\\ud83d"]}'],
    ['with a lone surrogate in a name', '{"\\udc00":1}', '{"\\udc00":1}'],
    [
      'with numbers that JavaScript writes otherwise',
      '[1234567890123456789,1e400,1.0,-0]',
      '[1234567890123456789,1e400,1.0,-0]',
    ],
  ])('%s is read, and written as it was (FA-40, FA-42)', (_what, text, written) => {
    const read = parseJson(bytes(text));
    expect('value' in read && JSON.stringify(read.value)).toBe(written);
  });

  it.each([
    ['{"id":7.0}', '{"id":7}'],
    ['[{"id":1e1},{"id":7.5},1.0]', '[{"id":10},{"id":7.5},1.0]'],
    ['{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    ['{"error":{"code":-32601.0,"data":1.0}}', '{"error":{"code":-32601,"data":1.0}}'],
    ['{"params":{"requestId":7.0,"a":7.0}}', '{"params":{"requestId":7,"a":7.0}}'],
    ['{"params":{"progressToken":7.0,"progress":1.0}}', '{"params":{"progressToken":7,"progress":1.0}}'],
    [
      '{"params":{"_meta":{"progressToken":7.0,"a":7.0}}}',
      '{"params":{"_meta":{"progressToken":7,"a":7.0}}}',
    ],
    [
      '{"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7.0}}}',
      '{"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}}',
    ],
    ['{"params":7.0,"error":[7.0],"result":null}', '{"params":7.0,"error":[7.0],"result":null}'],
  ])('%s names a request or an error by a number, however it is written (FA-40)', (text, written) => {
    const read = parseJson(bytes(text));
    expect('value' in read && JSON.stringify(read.value)).toBe(written);
  });

  it('with more numbers to keep as written than a message may have is refused; an answer may have as many as values (FA-40, T-204)', () => {
    const many = bytes(
      `[${Array(maxExactNumbers + 1)
        .fill('1.0')
        .join(',')}]`,
    );
    expect(parseJson(many)).toEqual({ reason: 'too_many_values' });
    expect(parseJson(many, maxValues)).toHaveProperty('value');
    expect(parseJson(bytes(`[${Array(maxExactNumbers).fill('1.0').join(',')},1.5]`))).toHaveProperty('value');
  });

  it.each([
    ['arrays', nested(maxNesting + 1)],
    ['objects', `${'{"a":'.repeat(maxNesting + 1)}1${'}'.repeat(maxNesting + 1)}`],
    ['2 million brackets', nested(2_000_000)],
    [
      'all kinds of values',
      `[-0.5e+3,0,"\\u00e9\\n\\"é",true , false,null,{ },[ ],{"a":[1],"":{}},${nested(200)}]`,
    ],
  ])('that nests too deeply is refused before anything recurses: %s (T-135)', (_what, text) => {
    expect(parseJson(bytes(text))).toEqual({ reason: 'nested_too_deep' });
  });

  it.each([
    ['brackets that are never closed', '['.repeat(300)],
    ['objects that are cut', '{"a":'.repeat(300)],
    ['2 million open brackets', '['.repeat(2_000_000)],
    ['a bracket too many', `${nested(300)}]`],
    ['brackets of two kinds', `${'['.repeat(300)}${'}'.repeat(300)}`],
    ['a comma at the end', `[${nested(300)},]`],
    ['a comma in place of a name', `{"a":${nested(300)},}`],
    ['no name', `{${nested(300)}}`],
    ['no value', `{"a":,"b":${nested(300)}}`],
    ['no colon', `{"a" ${nested(300)}}`],
    ['a bad escape', `["\\x",${nested(300)}]`],
    ['a bad hexadecimal escape', `["\\u00g0",${nested(300)}]`],
    ['a control character', `["\n",${nested(300)}]`],
    ['a string without end', `[${nested(300)},"`],
    ['a number with a zero in front', `[01,${nested(300)}]`],
    ['half a number', `[1.,${nested(300)}]`],
    ['an exponent without digits', `[1e+,${nested(300)}]`],
    ['half a word', `[tru,${nested(300)}]`],
    ['a sign alone', `[-,${nested(300)}]`],
    ['too many values, and an end that is cut', `[${'1,'.repeat(maxValues + 1)}`],
  ])('that is cut or malformed is not JSON, whatever its depth: %s (FA-14)', (_what, text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(parseJson(bytes(text))).toEqual({ reason: 'not_json' });
  });

  it('of more than 256 KiB is told by its two ends, as to read it twice costs time (FA-14, T-204)', () => {
    const large = `[${'1,'.repeat(200_000)}`;
    expect(parseJson(bytes(large))).toEqual({ reason: 'not_json' });
    expect(parseJson(bytes(`${large}1] \n`))).toEqual({ reason: 'too_many_values' });
  });

  it('that nests too deeply and is not in UTF-8 is not JSON (FA-14)', () => {
    const body = Buffer.concat([Buffer.from(`["`), Buffer.from([0xff]), Buffer.from(`",${nested(300)}]`)]);
    expect(parseJson(body)).toEqual({ reason: 'not_json' });
  });

  it('with too many values is refused before any is built (T-135)', () => {
    const list = (count: number): Uint8Array => bytes(`["a,b"${',1'.repeat(count - 1)}]`);
    expect(parseJson(list(maxValues))).toEqual({ reason: 'too_many_values' });
    expect(parseJson(list(maxValues - 1))).toHaveProperty('value');
  });

  it('stops at more strings than so many values can have, before it looks for the ends of all (FA-04, T-204)', () => {
    expect(parseJson(bytes(`[${'""'.repeat(4 * maxValues)}]`))).toEqual({ reason: 'too_many_values' });
    const members = Array(maxValues - 1)
      .fill('"a":"b"')
      .join();
    expect(parseJson(bytes(`{${members}}`))).toEqual({ value: { a: 'b' } });
  });

  it('with too many different names is refused before any is built (T-204)', () => {
    const rows = (names: number, count: number): Uint8Array =>
      bytes(`[${Array.from({ length: count }, (_, at) => `{"a name: ${at % names}" :\n"a: b"}`).join(',')}]`);
    expect(parseJson(rows(maxNames + 1, maxNames + 1))).toEqual({ reason: 'too_many_members' });
    expect(parseJson(rows(maxNames, maxNames * 2))).toHaveProperty('value');
  });

  it('of 4 MiB is read without a stall, whatever its shape (T-135)', () => {
    for (const text of [
      `[${'1,'.repeat(2_000_000)}1]`,
      `"${'\\u0061'.repeat(690_000)}"`,
      `[${'"\\ud83d",'.repeat(1)}1]`,
      `{${Array.from({ length: 40_000 }, (_, at) => `"${'n'.repeat(90)}${at}":1`).join(',')}}`,
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
