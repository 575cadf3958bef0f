import { expect, it } from 'vitest';
import { changedMembers } from '../../../../src/cli/commands/operator/pins.ts';

it('what changed of a definition is said by member, on one line each, and cut', () => {
  const before = JSON.stringify({ name: 'a', description: 'b', title: 'c' });
  const now = JSON.stringify({ name: 'a', description: `d\u202e${'x'.repeat(500)}` });
  const [description, title, ...more] = changedMembers(before, now);
  expect(description).toMatch(/^description: "d\ufffdx+… \(304 more characters: --json\)$/);
  expect(description?.length).toBeLessThan(250);
  expect([title, more]).toEqual(['title: (gone)', []]);
  expect(changedMembers(undefined, now)).toEqual(['too long to compare']);
});

it('what changed far into a text is shown from there', () => {
  const same = 'x'.repeat(5000);
  const [before, now] = ['tells you', 'tells all'].map((end) => JSON.stringify({ description: same + end }));
  expect(changedMembers(before, now)).toEqual([`description: …${'x'.repeat(14)}tells all"`]);
});
