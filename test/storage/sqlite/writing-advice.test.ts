import { expect, it } from 'vitest';
import { adviseOnWriting } from '../../../src/storage/sqlite/writing-advice.ts';

it('the advice on a folder that cannot be written is another where its file system is mounted read-only', () => {
  expect(adviseOnWriting('EROFS', 'Ask.')).toMatch(/mounted read-only.*mount it for writing/);
  expect(adviseOnWriting('EACCES', 'Ask.')).toBe('Ask.');
  expect(adviseOnWriting(undefined, 'Ask.')).toBe('Ask.');
});
