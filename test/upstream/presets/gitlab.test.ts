import { expect, it } from 'vitest';
import { gitlab } from '../../../src/upstream/presets/gitlab.ts';
import { lin } from '../../support/upstreams/people.ts';
import { logIn, upstreamFor, useWork } from '../subject.ts';

const at = useWork();

it('GitLab is gitlab.com unless an issuer is set; groups stand in its user info alone (A10-01)', async () => {
  expect(gitlab.defaults.issuer).toBe('https://gitlab.com');
  at.work.alter('/me', (body) => ({ ...body, groups: ['a/b'] }));
  const { identity } = await logIn(await upstreamFor(at.work.settings({ preset: 'gitlab' })));
  expect(identity).toMatchObject({ subject: lin.sub, claims: { groups: ['a/b'] } });
});
