import { expect, it } from 'vitest';
import { type LinkWord, mayHonour } from '../../../src/authorization-server/bonds/link-standing.ts';
import { TokenStatusUnknown } from '../../../src/oauth/auth-info.ts';

const saying = (word: LinkWord) => ({ check: () => word, retryAfterSeconds: () => 7 });

it('what hangs on a link is honoured while it stands, and not when it has ended (A10-02)', async () => {
  expect(await mayHonour(saying('stands'), 'link')).toBe(true);
  expect(await mayHonour(saying('ended'), 'link')).toBe(false);
});

it('where nobody can tell, it is neither, and may be asked again (T-090)', async () => {
  const refusal = await mayHonour(saying('unavailable'), 'link').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(TokenStatusUnknown);
  expect(refusal).toMatchObject({ retryAfterSeconds: 7 });
});
