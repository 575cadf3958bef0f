import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBoundedBody } from '../../src/net/read-body.ts';

function answer(headers: Record<string, string>, ...chunks: string[]): IncomingMessage {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return Object.assign(body, { headers }) as unknown as IncomingMessage;
}

describe('a body', () => {
  it('is read as far as the limit, over all its pieces (T-071)', async () => {
    expect((await readBoundedBody(answer({}, 'ab', 'cd'), 4)).toString()).toBe('abcd');
    await expect(readBoundedBody(answer({}, 'ab', 'cde'), 4)).rejects.toMatchObject({ fault: 'too_large' });
  });

  it.each([
    [{ 'content-length': '5' }, 'too_large'],
    [{ 'content-encoding': 'gzip' }, 'encoded'],
    [{ 'content-encoding': 'BR' }, 'encoded'],
    [{ 'content-encoding': 'identity, gzip' }, 'encoded'],
  ])('that is announced by %j is not read at all (T-071)', async (headers, fault) => {
    const response = answer(headers, 'a');
    await expect(readBoundedBody(response, 4)).rejects.toMatchObject({ fault });
    expect((response as unknown as Readable).readableDidRead).toBe(false);
  });

  it('that says it is as it is, is taken so', async () => {
    expect(
      (await readBoundedBody(answer({ 'content-encoding': 'Identity', 'content-length': '2' }, 'ok'), 4))
        .length,
    ).toBe(2);
  });
});
