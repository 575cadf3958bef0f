import { expect, it } from 'vitest';
import { changedMembers } from '../../../src/cli/commands/pins-difference.ts';

it('what changed of a definition is said by member, on one line each, and cut', () => {
  const before = JSON.stringify({ name: 'a', description: 'b', title: 'c' });
  const now = JSON.stringify({ name: 'a', description: `d\u202e${'x'.repeat(500)}` });
  const [description, title, ...more] = changedMembers(before, now);
  expect(description).toMatch(/^description: "d\ufffdx+…$/);
  expect(description?.length).toBeLessThan(250);
  expect([title, more]).toEqual(['title: (gone)', []]);
  expect(changedMembers(undefined, now)).toEqual(['too long to compare']);
});
