import { describe, expect, it } from 'vitest';
import { markMessage, withMarkedNumbers } from '../../../src/client/transports/exact-numbers.ts';
import { restoreNumbers } from '../../../src/collections/exact-json.ts';

/** What a transport that parses by itself makes of a message. */
const carried = (text: string) => JSON.stringify(restoreNumbers(JSON.parse(markMessage(text))));

describe('numbers that a transport of the SDK parses', () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"result":{"id":1234567890123456789,"list":[1.0,-0,1e400],"__proto__":{"a":1.50}}}',
    '{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0,"text":"1.0"}}',
    '{"jsonrpc":"2.0","id":1,"result":{"plain":[1,2.5,"x"]}}',
  ])('are what they were: %s (FA-40)', (text) => {
    expect(carried(text)).toBe(text);
  });

  it('Text that is no JSON, or holds no such number, is left as it is', () => {
    for (const text of ['{"a":', 'nonsense 1.0', '{ "a" : 1 }']) expect(markMessage(text)).toBe(text);
  });

  it.each([
    ['application/json; charset=utf-8', true],
    ['application/problem+json', true],
    ['text/html', false],
  ])('A body of %s is rewritten: %s', async (type, isRewritten) => {
    const fetch = withMarkedNumbers(
      async () => new Response('{"a":1.0}', { headers: { 'content-type': type } }),
    );
    const text = await (await fetch('http://server.example/')).text();
    expect(text !== '{"a":1.0}').toBe(isRewritten);
  });
});
