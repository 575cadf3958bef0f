import { describe, expect, it } from 'vitest';
import { type LinkMonitorOptions, startLinkMonitor } from '../../../src/upstream/links/link-monitor.ts';
import { createLinkStatus } from '../../../src/upstream/links/link-status.ts';
import { grant } from '../../storage/contract/subject.ts';
import { type BondSubject, down, startBond } from './subject.ts';

/** A keeper that does nothing by itself. */
async function start(more: Partial<LinkMonitorOptions> = {}) {
  const subject = await startBond();
  const warnings: string[] = [];
  const options: LinkMonitorOptions = {
    store: subject.store,
    vault: subject.vault,
    upstreams: subject.options.upstreams,
    standing: createLinkStatus(subject.options),
    events: subject.events,
    logger: {
      warn: (_details: object, text: string) => void warnings.push(text),
    } as LinkMonitorOptions['logger'],
    now: () => subject.clock.now,
    intervalMs: 60_000,
    ...more,
  };
  return { ...subject, warnings, options, keeper: startLinkMonitor(options) };
}

const end = ({ storage }: Pick<BondSubject, 'storage'>, linkId: string) =>
  storage.artifacts.revokeGrant(`grant of ${linkId}`);

describe('the keeper', () => {
  it('revokes at the upstream what it gave, where the last grant that hangs on it has ended (T-091, A10-02)', async () => {
    const subject = await start();
    const { keeper, link, upstream, recorded, store } = subject;
    await link('l', { refreshToken: 'refresh of l' });
    await keeper.round();
    expect(upstream.revoked).toEqual([]);
    await end(subject, 'l');
    await keeper.round();
    expect(upstream.revoked).toEqual([
      { accessToken: 'access of l', refreshToken: 'refresh of l', scopes: [] },
    ]);
    expect((await store.find('l'))?.tokens).toBeUndefined();
    expect(recorded).toEqual([
      { event: 'upstream.revoked', details: { upstream: 'work', accountId: 'ada' } },
    ]);
    await keeper.round();
    expect(upstream.revoked).toHaveLength(1);
    await keeper.close();
  });

  it('leaves what was linked for tools, and what another grant hangs on', async () => {
    const subject = await start();
    const { keeper, link, upstream, storage } = subject;
    await link('kept', {}, { kept: true });
    await link('shared', {}, { accountId: 'bob' });
    await storage.artifacts.commit([
      {
        type: 'putGrant',
        id: 'another',
        at: subject.clock.now,
        accountId: 'bob',
        clientId: 'other',
        payload: Buffer.from('x'),
        expiresAt: subject.clock.now + 100,
      },
      { type: 'bindGrant', id: 'another', upstreamSessionId: 'session of shared' },
    ]);
    await end(subject, 'kept');
    await end(subject, 'shared');
    await keeper.round();
    expect(upstream.revoked).toEqual([]);
    await storage.artifacts.revokeGrant('another');
    await keeper.round();
    expect(upstream.revoked.map(({ accessToken }) => accessToken)).toEqual(['access of shared']);
    await keeper.close();
  });

  it('revokes again and again where the upstream does not answer, with growing pauses, and says when it gives up', async () => {
    const subject = await start();
    const { keeper, link, upstream, clock, recorded, store } = subject;
    await link('l');
    await end(subject, 'l');
    upstream.answers.revoke = down;
    let tries = 0;
    const revoke = upstream.revoke.bind(upstream);
    upstream.revoke = (tokens) => {
      tries++;
      return revoke(tokens);
    };
    await keeper.round();
    await keeper.round();
    expect(tries).toBe(1);
    for (let seconds = 0; seconds < 25 * 3600; seconds += 5) {
      clock.now += 5;
      await keeper.round();
    }
    expect(tries).toBeGreaterThan(20);
    expect(tries).toBeLessThan(50);
    expect(await store.dueRevocations(clock.now + 1e6, 10, 30)).toEqual([]);
    expect(recorded.map(({ event }) => event)).toEqual(['upstream.revocation_failed']);
    await keeper.close();
  });

  it.each([
    ['the same token', { accessToken: 'access of l' }, false],
    ['the same refresh token', { accessToken: 'new', refreshToken: 'refresh of l' }, false],
    ['tokens that would end with them', { accessToken: 'new', refreshToken: 'also new' }, true],
  ])('revokes nothing where the next login has brought %s', async (_what, brought, endsAll) => {
    const subject = await start();
    const { keeper, link, upstream, clock, vault, storage, store } = subject;
    await link('l', { refreshToken: 'refresh of l' });
    upstream.revocationEndsAll = endsAll;
    upstream.answers.revoke = down;
    await end(subject, 'l');
    await keeper.round();
    const row = await subject.row('l');
    const { changes, sessionId } = vault.changesOfLogin({
      upstream,
      accountId: 'ada',
      identity: { issuer: row.issuer, subject: row.subject, claims: {} },
      tokens: { scopes: [], ...brought },
      present: row,
    });
    const again = { ...grant('again', 'ada'), expiresAt: clock.now + 1e6 };
    const bond = { type: 'bindGrant', id: 'again', upstreamSessionId: sessionId } as const;
    expect(await storage.artifacts.commit([...changes, again, bond])).toMatchObject({ committed: true });
    delete upstream.answers.revoke;
    clock.now += 5;
    await keeper.round();
    expect(upstream.revoked).toEqual([]);
    expect(await store.dueRevocations(clock.now + 1e5, 10, 30)).toEqual([]);
    await keeper.close();
  });

  it('revokes in the end where the upstream comes back', async () => {
    const subject = await start();
    const { keeper, link, upstream, clock } = subject;
    await link('l');
    await end(subject, 'l');
    upstream.answers.revoke = down;
    await keeper.round();
    delete upstream.answers.revoke;
    clock.now += 5;
    await keeper.round();
    expect(upstream.revoked).toHaveLength(1);
    await keeper.close();
  });

  it('works by itself within a second, until it is closed', async () => {
    const subject = await start({ intervalMs: 10 });
    const { keeper, link, upstream } = subject;
    await link('l');
    await end(subject, 'l');
    await expect.poll(() => upstream.revoked.length, { timeout: 1000 }).toBe(1);
    await keeper.close();
  });

  it('says once that the database does not answer, and goes on', async () => {
    const { keeper, warnings, options } = await start();
    await keeper.close();
    const failing = startLinkMonitor({
      ...options,
      store: {
        ...options.store,
        releaseUnheld: async () => {
          throw new Error('locked');
        },
      },
    });
    await failing.round();
    await failing.round();
    expect(warnings).toEqual(['the links to upstreams could not be looked after']);
    await failing.close();
  });
});
