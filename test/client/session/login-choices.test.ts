import { expect, it } from 'vitest';
import { choicesOf } from '../../../src/client/session/login-choices.ts';
import { testCredential } from '../support/credentials.ts';

it.each([
  ['with a key', { dpopKey: { kty: 'EC', d: 'secret' } }, { dpop: true }],
  ['without a resource', { withoutResource: true }, { withoutResource: true }],
  ['as usual', {}, {}],
] as const)('a login %s tells what was chosen at it, never the key', (_, held, chosen) => {
  expect(choicesOf(testCredential(held))).toEqual(chosen);
});
