import { describe, expect, it } from 'vitest';
import { createPaint } from '../../src/cli/output.ts';

const terminal = { write: () => undefined, isTTY: true };
const file = { write: () => undefined };
const isPainted = (sink: typeof file, env: Record<string, string>): boolean =>
  createPaint(sink, env)('red', 'a') !== 'a';

describe('colours', () => {
  it('are for terminals only', () => {
    expect(isPainted(terminal, {})).toBe(true);
    expect(isPainted(file, {})).toBe(false);
    expect(isPainted(terminal, { TERM: 'dumb' })).toBe(false);
  });

  it('are as the environment says', () => {
    expect(isPainted(terminal, { NO_COLOR: '1' })).toBe(false);
    expect(isPainted(terminal, { NO_COLOR: '' })).toBe(true);
    expect(isPainted(file, { FORCE_COLOR: '1' })).toBe(true);
    expect(isPainted(file, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(true);
    expect(isPainted(terminal, { FORCE_COLOR: '0' })).toBe(false);
  });

  it('begin and end around the text', () => {
    const paint = createPaint(terminal, {});
    expect(paint('bold', 'a')).toBe('\u001b[1ma\u001b[22m');
    expect(paint('bold', '')).toBe('');
  });
});
