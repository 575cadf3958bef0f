import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { readNewPassword } from '../../../../src/cli/commands/operator/account.ts';

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
    await expect(readNewPassword(false, Readable.from([]))).rejects.toMatchObject({
      exitCode: 2,
      hint: expect.stringContaining('--password-stdin'),
    });
  });

  it('is typed twice at a terminal', async () => {
    expect(await typed('a password\r', 'a password\r')).toBe('a password');
    await expect(typed('a password\r', 'another\r')).rejects.toThrow('The two passwords differ.');
  });

  it.each([
    ['Ctrl+C', '\x03'],
    ['Ctrl+D', '\x04'],
    ['a terminal that goes away', undefined],
  ])('is not taken where %s ends either question', async (_name, end) => {
    for (const lines of [[end], ['a password\r', end]])
      await expect(typed(...lines)).rejects.toMatchObject({ message: 'Nothing was changed.', exitCode: 2 });
  });
});

/** Types at a terminal, each as soon as it is asked for; undefined closes it. */
function typed(...lines: (string | undefined)[]): Promise<string> {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const asked = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    if (!String(text).endsWith(': ')) return true;
    const line = lines.shift();
    setImmediate(() => (line === undefined ? terminal.end() : terminal.write(line)));
    return true;
  });
  return readNewPassword(false, terminal).finally(() => asked.mockRestore());
}
