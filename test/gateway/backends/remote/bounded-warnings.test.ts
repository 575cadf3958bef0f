import { expect, it } from 'vitest';
import { createBoundedWarnings } from '../../../../src/gateway/backends/remote/bounded-warnings.ts';

it('warnings of one backend are bounded; what was left out is counted (T-156)', () => {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const warn = createBoundedWarnings(
    'There',
    { warn: (line: object) => void lines.push({ ...line }) },
    () => nowMs,
  );
  for (let count = 0; count < 500; count++) warn({ reason: 'r' }, 'it failed');
  expect(lines).toHaveLength(50);
  nowMs = 10_000;
  warn({ reason: 'r' }, 'it failed');
  warn({ reason: 'r' }, 'it failed');
  expect(lines.slice(50)).toEqual([
    { backend: 'There', reason: 'r', droppedLines: 450 },
    { backend: 'There', reason: 'r' },
  ]);
});
