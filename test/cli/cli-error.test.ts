import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/cli/cli-error.ts';

describe('an error of the command line', () => {
  it('carries its sentence, its exit code and what to do', () => {
    const error = new CliError('No.', 3, 'Run: this');
    expect([error.message, error.exitCode, error.hint]).toEqual(['No.', 3, 'Run: this']);
    expect(new CliError('No.', 1).hint).toBeUndefined();
  });
});
