import { describe, expect, it } from 'vitest';
import { createErrorOutput } from '../../../src/gateway/backends/error-output.ts';

function written(): {
  lines: Record<string, unknown>[];
  write: (text: string) => void;
  pass: (ms: number) => void;
} {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const take = createErrorOutput({
    backend: 'Notes',
    pid: 7,
    secrets: ['a-long', 'a-long-token'],
    logger: { info: (fields: Record<string, unknown>) => void lines.push(fields) } as never,
    nowMs: () => nowMs,
  });
  return {
    lines,
    write: (text) => take(Buffer.from(text)),
    pass(ms) {
      nowMs += ms;
    },
  };
}

describe('the standard error of a backend', () => {
  it('is a log line for each of its lines, cut anywhere, without control characters and secrets (T-194, T-195)', () => {
    const { lines, write } = written();
    write('one\r\ntwo a-long-');
    write('token \u001b[1m\n\nthree');
    expect(lines).toEqual([
      { backend: 'Notes', pid: 7, line: 'one' },
      { backend: 'Notes', pid: 7, line: 'two [redacted] \u{fffd}[1m' },
    ]);
  });

  it('is bounded in the length of its lines and in their number; what is left out is counted (T-156)', () => {
    const { lines, write, pass } = written();
    write(`${'x'.repeat(100_000)}\n${'y'.repeat(5000)}\n`);
    expect(lines.map(({ line }) => line)).toEqual([
      '(a line longer than 8192 bytes)',
      expect.stringMatching(/^y{500}… \(5000 characters\)$/),
    ]);
    write('flood\n'.repeat(1000));
    expect(lines).toHaveLength(200);
    pass(10_000);
    write('after\n');
    expect(lines.at(-1)).toMatchObject({ line: 'after', droppedLines: 802 });
  });
});
