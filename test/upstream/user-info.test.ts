import { describe, it } from 'vitest';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { faults } from '../support/upstreams/front.ts';
import { omar } from '../support/upstreams/people.ts';
import { logIn, useWork } from './subject.ts';

const at = useWork();

describe('a user-info endpoint', () => {
  it.each<[string, () => void, UpstreamReason, UpstreamFaultKind]>([
    [
      'about somebody else',
      () => at.work.alter('/me', (body) => ({ ...body, sub: omar.sub })),
      'user_info_subject',
      'refused',
    ],
    [
      'about nobody',
      () => at.work.alter('/me', ({ sub: _gone, ...rest }) => rest),
      'user_info_subject',
      'refused',
    ],
    [
      'that does not know the token',
      () => at.work.fault('/me', faults.json(401, {})),
      'user_info_refused',
      'refused',
    ],
    ['with broken JSON', () => at.work.fault('/me', faults.notJson()), 'user_info_malformed', 'refused'],
    ['that fails', () => at.work.fault('/me', faults.page()), 'server_error', 'unavailable'],
  ])('%s logs nobody in (T-085)', async (_what, arrange, reason, kind) => {
    arrange();
    await at.expectRefused(logIn(await at.client()), reason, kind);
  });
});
