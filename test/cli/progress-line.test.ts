import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startProgressLine } from '../../src/cli/progress-line.ts';
import { testIo } from './support/client-commands.ts';

function terminal(env: Record<string, string> = {}) {
  const { io, written } = testIo({ env: { NO_COLOR: '1', ...env } });
  const stderr = { ...io.stderr, isTTY: true, columns: 20 };
  return { io: { ...io, stderr }, written };
}

describe('a progress line', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('moves while something is waited for, and leaves nothing behind', () => {
    const { io, written } = terminal();
    const line = startProgressLine(io, 'Calling');
    vi.advanceTimersByTime(200);
    line.say('Calling 1/2 with a long message');
    line.end();
    const frames = written.stderr.split('\r\u001b[2K');
    expect(new Set(frames.slice(1, 4)).size).toBe(3);
    expect(frames.at(-2)).toMatch(/^. Calling 1\/2 with/);
    expect(Math.max(...frames.map(({ length }) => length))).toBeLessThanOrEqual(19);
    expect(frames.at(-1)).toBe('');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('makes room for other text', () => {
    const { io, written } = terminal();
    const line = startProgressLine(io, 'Calling');
    line.pause();
    const before = written.stderr;
    vi.advanceTimersByTime(500);
    expect(written.stderr).toBe(before);
    line.end();
  });

  it('is not there where nobody watches, or the terminal cannot take it back', () => {
    const { io, written } = testIo();
    startProgressLine(io, 'Calling').end();
    expect(written.stderr).toBe('');
    const dumb = terminal({ TERM: 'dumb' });
    startProgressLine(dumb.io, 'Calling').end();
    expect(dumb.written.stderr).toBe('');
  });
});
