import { expect, it } from 'vitest';
import { credentialContext } from '../../src/storage/backends.ts';

it('what a credential is sealed for names account, route and name, none running into the next (T-094)', () => {
  const contexts = [
    credentialContext('ada', 'notion', 'key'),
    credentialContext('ada', 'notion","key', ''),
    credentialContext('ada', 'not', 'ionkey'),
    credentialContext('grace', 'notion', 'key'),
    credentialContext('ada', 'notion', 'other'),
  ];
  expect(new Set(contexts).size).toBe(contexts.length);
});
