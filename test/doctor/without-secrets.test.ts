import { expect, it } from 'vitest';
import { withoutSecrets } from '../../src/doctor/without-secrets.ts';

it('a finding quotes no token, whatever the server sent (T-191)', () => {
  const clean = withoutSecrets({
    id: 'X',
    section: 'token',
    title: 'X',
    clause: '',
    verdict: 'fail',
    saw: 'It answered {"access_token":"abcdefghijk"} and eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    fix: 'Do not send ?code=abcdefgh',
  });
  expect(clean.saw).toBe('It answered {"access_token":"<secret:access_token>"} and <secret:jwt>');
  expect(clean.fix).toBe('Do not send ?code=<secret:code>');
});
