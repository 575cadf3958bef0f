import { expect, it } from 'vitest';
import { formatListing } from '../../../../src/cli/commands/doctor/report-text.ts';
import { finding } from '../../../doctor/report/sample.ts';

const look = { paint: (_style: string, text: string) => text, width: 100 };
const skips = ['E', 'F', 'G'].map((id) => finding(id, 'skip', { saw: 'It needs --active.' }));

it('the list of checks says why something is unknown, and groups what is skipped for one reason', () => {
  const text = formatListing([finding('A', 'unknown'), ...skips], look);
  expect(text).toContain('? unknown A The rule of A: what A saw\n');
  expect(text).toContain('· skip    3 checks It needs --active.\n');
});

it('the list of checks says what was seen of each, and which were skipped, where that is wanted', () => {
  const text = formatListing([finding('A', 'pass'), ...skips], { ...look, isVerbose: true });
  expect(text).toContain('what A saw');
  expect(text).toContain('(E, F, G)');
});
