import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { programName } from '../../src/cli/output.ts';
import { repository } from '../support/program.ts';

describe('the name of the program', () => {
  it('is a script that is there, where it runs from a checkout', () => {
    expect(programName).toBe('scripts/gatehouse');
    expect(existsSync(join(repository, programName))).toBe(true);
  });
});
