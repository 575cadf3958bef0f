import { expect, it } from 'vitest';
import { describeMissingDatabase } from '../../../../src/cli/commands/operator/installation.ts';

it('a lost database is told with its folder and the day of its keys, and nothing that writes to the terminal (T-190)', () => {
  expect(describeMissingDatabase('/srv/\u001b[2Jdata', 86_400)).toBe(
    'No database was found in /srv/data, though its keys are of 1970-01-02',
  );
});
