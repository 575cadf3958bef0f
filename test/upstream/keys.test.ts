import { describe, expect, it } from 'vitest';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { faults } from '../support/upstreams/front.ts';
import { lin } from '../support/upstreams/people.ts';
import { createUpstreamKey } from '../support/upstreams/signing.ts';
import { faultOf, logIn, upstreamFor, useWork } from './subject.ts';

const at = useWork();

describe('the keys of an upstream', () => {
  it('may change: those it publishes count (T-086)', async () => {
    const upstream = await upstreamFor(at.work.settings(), { keyCooldownMs: 0 });
    await logIn(upstream);
    await at.work.rotateKeys();
    expect((await logIn(upstream)).identity.subject).toBe(lin.sub);
    await at.work.rotateKeys(false);
    expect((await logIn(upstream)).identity.subject).toBe(lin.sub);
  });

  it('are asked for once, however many unknown ones are named (T-086)', async () => {
    const upstream = await at.client();
    const stranger = await createUpstreamKey();
    const before = at.work.count('/jwks');
    for (let time = 0; time < 1_000; time += 1) {
      const token = await at.work.logoutToken({ sub: lin.sub }, { kid: `unknown-${time}` });
      expect((await faultOf(upstream.readLogoutToken(token))).reason).toBe('jwt_key');
    }
    expect((await faultOf(upstream.readLogoutToken(await stranger.sign({})))).reason).not.toBe('jwt_key');
    expect(at.work.count('/jwks') - before).toBe(1);
  });

  it.each<[string, () => void, UpstreamReason, UpstreamFaultKind]>([
    [
      'that are none',
      () => at.work.fault('/jwks', faults.json(200, { keys: 'canary' })),
      'keys_malformed',
      'refused',
    ],
    [
      'that are damaged',
      () =>
        at.work.alter('/jwks', ({ keys }) => ({
          keys: (keys as object[]).map((key) => ({ ...key, n: '' })),
        })),
      'keys_malformed',
      'refused',
    ],
    ['that are not there', () => at.work.fault('/jwks', faults.page(404)), 'keys_malformed', 'refused'],
    ['that never come', () => at.work.fault('/jwks', faults.silent()), 'timed_out', 'unavailable'],
  ])('%s log nobody in (T-085)', async (_what, arrange, reason, kind) => {
    arrange();
    await at.expectRefused(logIn(await at.clientToSee(reason)), reason, kind);
  });
});
