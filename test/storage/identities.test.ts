import { expect, it } from 'vitest';
import { LastWayIn } from '../../src/storage/identities.ts';

it('a removal of the last way in has a name of its own', () => {
  expect(String(new LastWayIn())).toBe('LastWayIn: nobody could log in to the account any more');
});
