import { describe, expect, it } from 'vitest';
import {
  markMessage,
  plainMarked,
  readingMarkedNumbers,
  withMarkedNumbers,
} from '../../../src/client/transports/exact-numbers.ts';
import { unmarkedJson } from '../../../src/collections/exact-json.ts';

/** What a transport that parses by itself makes of a message. */
const carried = (text: string) => unmarkedJson(JSON.stringify(JSON.parse(markMessage(text, 'all'))));
const content = (text: string) => unmarkedJson(JSON.stringify(JSON.parse(markMessage(text, 'content'))));

describe('numbers that a transport of the SDK parses', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"result":{"id":1234567890123456789,"list":[1.0,-0,1e400],"__proto__":{"a":1.50}}}',
    '{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":1.0,"text":"1.0"}}',
    '[{"jsonrpc":"2.0","id":1,"result":{"plain":[1,2.5,"x",1.0]}}]',
  ])('are what they were: %s (FA-40)', (text) => {
    expect(carried(text)).toBe(text);
  });

  it('An id that JavaScript can hold is a number, however it is written (FA-40)', () => {
    const text = '{"jsonrpc":"2.0","id":7.0,"error":{"code":-32000.0,"message":"x","data":1.0}}';
    expect(carried(text)).toBe(text.replace('7.0', '7').replace('-32000.0', '-32000'));
  });

  it('are rounded outside of ids and free content if the SDK computes with them (FA-40)', () => {
    const free = '{"id":1.0,"list":[9007199254740993]}';
    expect(
      content(
        `{"jsonrpc":"2.0","id":9007199254740993,"result":{"ttlMs":1.0,"_meta":${free},"structuredContent":${free}}}`,
      ),
    ).toBe(
      `{"jsonrpc":"2.0","id":9007199254740993,"result":{"ttlMs":1,"_meta":${free},"structuredContent":${free}}}`,
    );
  });

  it('are compared with the schema of a tool as numbers (FA-40)', () => {
    const read = (text: string): never =>
      JSON.parse(markMessage(`{"structuredContent":${text}}`, 'content')).structuredContent as never;
    const validate = readingMarkedNumbers().jsonSchemaValidator?.getValidator(
      read('{"properties":{"a":{"type":"integer","maximum":9223372036854775807}}}'),
    );
    const given = read('{"a":9007199254740993}');
    expect(validate?.(given).valid).toBe(true);
    expect(unmarkedJson(JSON.stringify(given))).toBe('{"a":9007199254740993}');
    expect(validate?.(read('{"a":1e30}')).valid).toBe(false);
  });

  it('Names with escapes arrive after names with backslashes, in content that a schema describes too (FA-40)', () => {
    const of = (name: string) => JSON.stringify({ first: 1, [name]: 1 });
    for (const name of ['b\\', 'b\n', 'b"']) {
      const free = `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":${of(name)}}}`;
      for (const text of [free, `{"jsonrpc":"2.0","id":"a","result":${of(name)}}`])
        expect(carried(text)).toBe(text);
      const { structuredContent } = JSON.parse(markMessage(free, 'content')).result;
      expect(Object.keys(plainMarked(structuredContent))).toEqual(['first', name]);
      expect(content(free)).toBe(free);
    }
    expect(Object.keys(JSON.parse(markMessage(of('"'), 'content')))).toEqual(['first', '"']);
  });

  it('are sent as they were written, and in headers only if JavaScript can hold them (FA-40)', async () => {
    const sent: RequestInit[] = [];
    const fetch = withMarkedNumbers(async (_target, init) => {
      sent.push(init ?? {});
      return new Response(null, { status: 202 });
    }, 'all');
    const text = '{"small":1.0,"large":9007199254740993}';
    const body = markMessage(text, 'all');
    const { small, large } = JSON.parse(body) as Record<string, string>;
    await fetch('http://server.example/', {
      method: 'POST',
      body,
      headers: { 'mcp-param-small': String(small), 'mcp-param-large': String(large), accept: 'x/y' },
    });
    expect(sent[0]?.body).toBe(text);
    expect([...new Headers(sent[0]?.headers)]).toEqual([
      ['accept', 'x/y'],
      ['mcp-param-small', '1'],
    ]);
  });

  it('Text that is no JSON, or holds no such number, is left as it is', () => {
    for (const text of ['{"a":', 'nonsense 1.0', '{ "a" : 1 }']) expect(markMessage(text, 'all')).toBe(text);
  });

  it.each([
    ['application/json; charset=utf-8', true],
    ['application/problem+json', true],
    ['text/html', false],
  ])('A body of %s is rewritten: %s', async (type, isRewritten) => {
    const fetch = withMarkedNumbers(
      async () => new Response('{"a":1.0}', { headers: { 'content-type': type } }),
      'all',
    );
    const text = await (await fetch('http://server.example/')).text();
    expect(text !== '{"a":1.0}').toBe(isRewritten);
  });
});
