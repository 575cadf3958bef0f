import { expect, it } from 'vitest';
import { keycloak } from '../../../src/upstream/presets/keycloak.ts';
import { lin } from '../../support/upstreams/people.ts';
import { logIn, upstreamFor, useWork } from '../subject.ts';

const at = useWork();

it('Keycloak follows the standard; its refresh tokens end with the login there (A10-02)', async () => {
  expect(keycloak.defaults.scopes).not.toContain('offline_access');
  const { identity, sid } = await logIn(await upstreamFor(at.work.settings({ preset: 'keycloak' })));
  expect(identity.subject).toBe(lin.sub);
  expect(at.work.sidsOf(lin.sub)).toContain(sid);
});
