import { expect, test } from 'vitest';
import { waitFor } from '../../../src/gateway/credentials/credentials.ts';

test('something is looked for until it is there, or the time is over', async () => {
  let looks = 0;
  expect(await waitFor(async () => (++looks > 1 ? 'found' : undefined), 5_000)).toBe('found');
  looks = 0;
  const never = async (): Promise<undefined> => void looks++;
  expect(await waitFor(never, 0)).toBeUndefined();
  expect(looks).toBe(1);
  expect(await waitFor(never, 10)).toBeUndefined();
  expect(looks).toBe(3);
});
