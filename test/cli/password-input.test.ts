import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readNewPassword } from '../../src/cli/password-input.ts';

describe('a new password', () => {
  it.each([
    ['a password', 'a password'],
    ['a password\n', 'a password'],
    ['a password\r\n', 'a password'],
    ['  spaces count  \n', '  spaces count  '],
    ['line\nline\n\n', 'line\nline\n'],
    ['', ''],
  ])('%j on standard input is %j', async (input, password) => {
    expect(await readNewPassword(true, Readable.from([input]))).toBe(password);
  });

  it('comes in pieces, letters of several bytes included', async () => {
    const bytes = Buffer.from('pässwörd🗝\n');
    expect(await readNewPassword(true, Readable.from([...bytes].map((byte) => Buffer.from([byte]))))).toBe(
      'pässwörd🗝',
    );
  });

  it('is not read on and on', async () => {
    async function* endless() {
      for (;;) yield 'x'.repeat(1000);
    }
    expect((await readNewPassword(true, Readable.from(endless()))).length).toBeLessThan(10_000);
  });

  it('is asked for at a terminal, or else the message says how to pipe it in', async () => {
    expect(process.stdin.isTTY).toBeFalsy();
    await expect(readNewPassword(false, Readable.from([]))).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('--password-stdin'),
    });
  });
});
