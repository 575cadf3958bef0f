import { describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../../src/storage/storage.ts';
import { ageOf, createLinkCheck, endsSoon } from '../../../src/upstream/links/link-check.ts';
import { UpstreamFault } from '../../../src/upstream/upstream-fault.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { down, refused, startBond } from './subject.ts';

const refreshable = { refreshToken: 'refresh', expiresAt: startOfTime + 3600 };

describe('a look at a link', () => {
  it('whose upstream has nothing to ask with the access token renews, or cannot verify', async () => {
    const { options, link, clock, upstream } = await startBond();
    await link('renewable', refreshable);
    await link('not', {}, { accountId: 'bob' });
    clock.now += 300;
    upstream.answers.check = false;
    const look = createLinkCheck(options);
    expect(await look('renewable')).toMatchObject({ kind: 'good', link: { generation: 2 } });
    expect(await look('not')).toMatchObject({ kind: 'unverifiable' });
  });

  it('that renews is not overtaken by another process, however slow an upstream may be (T-090)', async () => {
    const { options, elsewhere, link, clock, upstream } = await startBond();
    await link('l', refreshable);
    clock.now += 3600;
    upstream.delayMs = 300;
    const slow = createLinkCheck(options)('l');
    await expect.poll(() => upstream.asked.refresh).toBe(1);
    // Two places of metadata and the token endpoint may take ten seconds each.
    clock.now += 30;
    expect(await createLinkCheck(elsewhere())('l')).toMatchObject({ kind: 'good', link: { generation: 2 } });
    expect(await slow).toMatchObject({ kind: 'good' });
    expect(upstream.asked.refresh).toBe(1);
  });

  it('that holds no tokens cannot verify anything', async () => {
    const { options, link, clock, store } = await startBond();
    await link('l', refreshable, { kept: true });
    await store.endLink('l', { revoke: false });
    clock.now += 300;
    expect(await createLinkCheck(options)('l')).toMatchObject({ kind: 'unverifiable' });
  });

  it('keeps renewed tokens also where the database takes none for a moment: the old ones may be dead (T-090)', async () => {
    const { options, link, clock, row, vault } = await startBond();
    await link('l', refreshable);
    clock.now += 3600;
    let refusals = 2;
    const look = createLinkCheck({
      ...options,
      store: {
        ...options.store,
        find: options.store.find,
        claimRefresh: options.store.claimRefresh,
        putTokens: async (...put) => {
          if (refusals-- > 0) throw new StorageUnavailable('full');
          return options.store.putTokens(...put);
        },
      },
    });
    expect(await look('l')).toMatchObject({ kind: 'good', link: { generation: 2 } });
    const { tokens } = await row('l');
    expect(vault.openTokens('l', tokens ?? new Uint8Array())).toMatchObject({
      accessToken: 'access of l+1',
      refreshToken: 'refresh',
    });
  });

  it('keeps a refresh token that came without an access token, and renews with it (FA-25)', async () => {
    const { options, link, clock, row, vault, upstream } = await startBond();
    await link('l', refreshable);
    clock.now += 3600;
    const sent: (string | undefined)[] = [];
    const alone = (successor: string) =>
      new UpstreamFault('work', 'ended', 'token_malformed', undefined, { successor });
    const answers: (Error | { accessToken: string })[] = [
      alone('second'),
      down,
      alone('third'),
      { accessToken: 'access' },
      alone('fourth'),
      alone('fifth'),
    ];
    upstream.refresh = async ({ refreshToken, ...held }) => {
      sent.push(refreshToken);
      const answer = answers.shift();
      if (answer === undefined || answer instanceof Error) throw answer;
      return { ...held, ...answer, refreshToken, expiresAt: clock.now + 3600 };
    };
    const held = async () => vault.openTokens('l', (await row('l')).tokens ?? new Uint8Array());
    const look = createLinkCheck(options);
    const provedAt = (await row('l')).provedAt;
    expect((await look('l')).kind).toBe('unreachable');
    expect(await held()).toMatchObject({ accessToken: 'access of l', refreshToken: 'second' });
    expect((await row('l')).provedAt).toBe(provedAt);
    expect((await look('l')).kind).toBe('good');
    expect(await held()).toMatchObject({ accessToken: 'access', refreshToken: 'third' });
    clock.now += 3600;
    expect((await look('l')).kind).toBe('ended');
    expect(sent).toEqual(['refresh', 'second', 'second', 'third', 'third', 'fourth']);
  });

  it('throws where the database does not answer: that says nothing about the link', async () => {
    const { options, link, clock, upstream } = await startBond();
    await link('l', refreshable);
    clock.now += 3600;
    const look = createLinkCheck({
      ...options,
      store: {
        ...options.store,
        find: options.store.find,
        claimRefresh: async () => {
          throw new StorageUnavailable('locked');
        },
      },
    });
    await expect(look('l')).rejects.toThrow(StorageUnavailable);
    expect(upstream.asked.refresh).toBe(0);
  });

  it('hears from the process that renews, be it good, bad or nothing (T-090)', async () => {
    for (const [fault, kind] of [
      [undefined, 'good'],
      [down, 'unreachable'],
      [refused, 'ended'],
    ] as const) {
      const { options, link, clock, upstream } = await startBond();
      await link('l', refreshable);
      clock.now += 3600;
      upstream.delayMs = 80;
      if (fault) upstream.answers.refresh = fault;
      const looks = [
        createLinkCheck(options)('l'),
        createLinkCheck(options)('l'),
        createLinkCheck(options)('l'),
      ];
      expect((await Promise.all(looks)).map((seen) => seen.kind)).toEqual([kind, kind, kind]);
      expect(upstream.asked.refresh).toBe(1);
    }
  });

  it('after one that failed may renew at once: the claim has ended', async () => {
    const { options, link, clock, upstream } = await startBond();
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = down;
    const look = createLinkCheck(options);
    expect((await look('l')).kind).toBe('unreachable');
    upstream.answers = {};
    expect((await look('l')).kind).toBe('good');
  });

  it('gives back at the upstream what came for a link that was let go of meanwhile (A10-02)', async () => {
    const { options, link, clock, upstream, store, storage, vault } = await startBond();
    await link('l', refreshable);
    clock.now += 3600;
    upstream.delayMs = 400;
    const seen = createLinkCheck(options)('l');
    await new Promise((resolve) => setTimeout(resolve, 20));
    await storage.artifacts.revokeGrant('grant of l');
    await store.releaseUnheld(clock.now);
    await seen;
    const waiting = await store.dueRevocations(clock.now, 10, 30);
    expect(waiting.map(({ linkId, tokens }) => vault.openTokens(linkId, tokens).accessToken).sort()).toEqual([
      'access of l',
      'access of l+1',
    ]);
  });
});

describe('what is known of a link', () => {
  it.each([
    ['fresh', { provedAt: 1000 }, 1299],
    ['stale', { provedAt: 1000 }, 1300],
    ['stale', { provedAt: 1000 }, 1599],
    ['old', { provedAt: 1000 }, 1600],
    ['fresh', { provedAt: 1000, expiresAt: 1200 }, 1199],
    ['expired', { provedAt: 1000, expiresAt: 1200 }, 1200],
  ])('is %s, proved and with an end as in %o, at %i', (age, times, now) => {
    expect(ageOf(times, 300, now)).toBe(age);
  });

  it.each([
    [false, { provedAt: 1000 }, 9999],
    [false, { provedAt: 1000, expiresAt: 4600 }, 4539],
    [true, { provedAt: 1000, expiresAt: 4600 }, 4540],
    [false, { provedAt: 1000, expiresAt: 1040 }, 1029],
    [true, { provedAt: 1000, expiresAt: 1040 }, 1030],
  ])('is renewed ahead (%s) with times as in %o at %i', (isSoon, times, now) => {
    expect(endsSoon(times, now)).toBe(isSoon);
  });
});
