import { expect, it } from 'vitest';
import { okta } from '../../../src/upstream/presets/okta.ts';
import { lin } from '../../support/upstreams/people.ts';
import { logIn, upstreamFor, useWork } from '../subject.ts';

const at = useWork();

it('Okta follows the standard, and gives refresh tokens for offline_access (A10-01)', async () => {
  expect(okta.defaults.scopes).toContain('offline_access');
  const { identity, tokens } = await logIn(await upstreamFor(at.work.settings({ preset: 'okta' })));
  expect([identity.subject, identity.email]).toEqual([lin.sub, lin.email]);
  expect(tokens.refreshToken).toEqual(expect.any(String));
});
