import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/cli-error.ts';
import { repository } from '../support/program.ts';
import { formatReference } from './reference.ts';

const read = (page: string) => readFile(join(repository, 'docs', page), 'utf8');

it('docs/doctor-checks.md has every check with its rule and clause, in the order in which they run', async () => {
  const [, table] =
    /<!-- checks -->\n\n([\s\S]*)\n<!-- end of checks -->/.exec(await read('doctor-checks.md')) ?? [];
  expect(table).toBe(formatReference());
});

it('docs/doctor.md names the exit codes as they are', async () => {
  const text = await read('doctor.md');
  expect(text).toContain(`| ${exitCodes.faultsFound} | faults were found`);
  expect(text).toContain(`| ${exitCodes.notExamined} | the server could not be examined`);
});
