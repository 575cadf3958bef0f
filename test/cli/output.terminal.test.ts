import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { isTerminal } from '../../src/cli/output.ts';

describe('a stream', () => {
  it('is a terminal only where it says so', () => {
    expect(isTerminal(new PassThrough())).toBe(false);
    expect(isTerminal({ isTTY: undefined })).toBe(false);
    expect(isTerminal(Object.assign(new PassThrough(), { isTTY: true }))).toBe(true);
  });
});
