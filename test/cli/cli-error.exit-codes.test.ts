import { describe, expect, it } from 'vitest';
import { exitCodeMeanings, exitCodes } from '../../src/cli/cli-error.ts';

describe('the exit codes', () => {
  it('are distinct, and each has a meaning', () => {
    const codes = Object.values(exitCodes);
    expect(new Set(codes).size).toBe(codes.length);
    expect(Object.keys(exitCodeMeanings).map(Number)).toEqual(codes);
  });

  it('that scripts rely on stay as they are', () => {
    expect(exitCodes).toMatchObject({
      ok: 0,
      unexpected: 1,
      usage: 2,
      loginNeeded: 3,
      scopeMissing: 4,
      toolError: 5,
      unreachable: 6,
    });
  });
});
