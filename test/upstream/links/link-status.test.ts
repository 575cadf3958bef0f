import { describe, expect, it } from 'vitest';
import { createLinkStatus, type LinkStatusOptions } from '../../../src/upstream/links/link-status.ts';
import { startOfTime } from '../../storage/contract/subject.ts';
import { type BondSubject, down, refused, startBond } from './subject.ts';

const refreshable = { refreshToken: 'refresh', expiresAt: startOfTime + 3600 };

async function start(
  settings?: Parameters<typeof startBond>[0],
  more: Partial<LinkStatusOptions> = {},
): Promise<BondSubject & { standing: ReturnType<typeof createLinkStatus> }> {
  const subject = await startBond(settings);
  return { ...subject, standing: createLinkStatus({ ...subject.options, firstPauseMs: 20, ...more }) };
}

/** How many of the grants stand. */
async function hasGrant({ storage }: Pick<BondSubject, 'storage'>, linkId: string): Promise<boolean> {
  return (await storage.artifacts.findGrant(`grant of ${linkId}`)) !== undefined;
}

describe('a link that is fresh', () => {
  it('stands without any query, and without a question to its upstream (A10-02)', async () => {
    const { standing, link, queries, upstream } = await start();
    await link('l', refreshable);
    expect(await standing.check('l')).toBe('stands');
    queries.length = 0;
    for (let times = 0; times < 1000; times++) expect(standing.check('l')).toBe('stands');
    expect(queries).toEqual([]);
    expect(upstream.asked).toEqual({ refresh: 0, check: 0 });
  });

  it('is one query for who meets it first', async () => {
    const { standing, link, queries } = await start();
    await link('l', refreshable);
    await standing.check('l');
    expect(queries).toEqual(['find']);
  });

  it('that is not there has ended', async () => {
    const { standing } = await start();
    expect(await standing.check('nobody')).toBe('ended');
  });
});

describe('a link that is stale', () => {
  it('stands, and is asked about behind, once for all (A10-02)', async () => {
    const { standing, link, clock, upstream, row } = await start();
    await link('l', refreshable);
    await standing.check('l');
    clock.now += 300;
    for (let times = 0; times < 100; times++) expect(standing.check('l')).toBe('stands');
    await standing.idle();
    expect(upstream.asked).toEqual({ refresh: 0, check: 1 });
    expect((await row('l')).provedAt).toBe(clock.now);
  });

  it('ends, with what hangs on it, where the upstream says no and there is nothing to renew (A10-02)', async () => {
    const subject = await start();
    const { standing, link, clock, upstream, recorded } = subject;
    await link('l');
    await standing.check('l');
    clock.now += 300;
    upstream.answers.check = refused;
    expect(standing.check('l')).toBe('stands');
    await standing.idle();
    expect(await hasGrant(subject, 'l')).toBe(false);
    expect(await standing.check('l')).toBe('ended');
    expect(recorded).toEqual([
      {
        event: 'upstream.ended',
        details: { upstream: 'work', accountId: 'ada', reason: 'grant_refused', grants: '1', logins: '0' },
      },
    ]);
  });

  it('is renewed where its access token alone was withdrawn', async () => {
    const subject = await start();
    const { standing, link, clock, upstream, row } = subject;
    await link('l', refreshable);
    await standing.check('l');
    clock.now += 300;
    upstream.answers.check = refused;
    standing.check('l');
    await standing.idle();
    expect(upstream.asked).toEqual({ refresh: 1, check: 1 });
    expect((await row('l')).generation).toBe(2);
    expect(await hasGrant(subject, 'l')).toBe(true);
  });

  it('is not honoured unasked where it has been unused for long', async () => {
    const { standing, link, clock, upstream } = await start();
    await link('l');
    await standing.check('l');
    clock.now += 600;
    upstream.answers.check = refused;
    expect(await standing.check('l')).toBe('ended');
  });

  it('that another process has asked about is not asked about again', async () => {
    const { standing, link, clock, upstream, elsewhere } = await start();
    const other = createLinkStatus(elsewhere());
    await link('l', refreshable);
    await Promise.all([standing.check('l'), other.check('l')]);
    clock.now += 300;
    other.check('l');
    await other.idle();
    standing.check('l');
    await standing.idle();
    expect(upstream.asked.check).toBe(1);
  });
});

describe('a link whose access token has ended', () => {
  it('is renewed once for 200 who come at once (T-090)', async () => {
    const { standing, link, clock, upstream, row, counts } = await start();
    await link('l', refreshable);
    await standing.check('l');
    clock.now += 3600;
    upstream.delayMs = 30;
    const words = await Promise.all(Array.from({ length: 200 }, () => standing.check('l')));
    expect(new Set(words)).toEqual(new Set(['stands']));
    expect(upstream.asked).toEqual({ refresh: 1, check: 0 });
    expect(await row('l')).toMatchObject({ generation: 2, expiresAt: clock.now + 3600, provedAt: clock.now });
    expect(counts).toEqual(['upstream.refreshed']);
  });

  it('is renewed once for two processes on one database (T-090)', async () => {
    const { standing, link, clock, upstream, elsewhere } = await start();
    const other = createLinkStatus(elsewhere());
    await link('l', refreshable);
    clock.now += 3600;
    upstream.delayMs = 120;
    const asking = Array.from({ length: 100 }, (_, at) => (at % 2 ? standing : other).check('l'));
    expect(new Set(await Promise.all(asking))).toEqual(new Set(['stands']));
    expect(upstream.asked.refresh).toBe(1);
  });

  it('ends where the upstream refuses for good, for all who wait (T-090)', async () => {
    const subject = await start();
    const { standing, link, clock, upstream } = subject;
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = refused;
    const words = await Promise.all(Array.from({ length: 20 }, () => standing.check('l')));
    expect(new Set(words)).toEqual(new Set(['ended']));
    expect(await hasGrant(subject, 'l')).toBe(false);
    expect(subject.recorded.map(({ event }) => event)).toEqual(['upstream.ended']);
  });

  it('does not end where somebody logged in anew while the old tokens were refused', async () => {
    const subject = await start();
    const { standing, link, clock, upstream, storage, row, vault } = subject;
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = refused;
    upstream.delayMs = 50;
    const word = standing.check('l');
    await new Promise((resolve) => setTimeout(resolve, 10));
    const { profile, accountId, issuer, subject: sub } = await row('l');
    await storage.artifacts.commit([
      {
        type: 'putUpstreamLink',
        ...{ id: 'l', accountId, upstream: 'work', issuer, subject: sub, profile },
        tokens: vault.sealTokens('l', { accessToken: 'new', scopes: [] }),
        provedAt: clock.now,
        ifGeneration: 1,
        at: clock.now,
      },
    ]);
    expect(await word).toBe('stands');
    expect(await hasGrant(subject, 'l')).toBe(true);
  });

  it('and that cannot be renewed stands for a while after it was last good, then ends', async () => {
    const subject = await start({ unverifiableSeconds: 7200 });
    const { standing, link, clock, upstream, recorded } = subject;
    await link('l', { expiresAt: startOfTime + 3600 });
    clock.now += 7199;
    expect(await standing.check('l')).toBe('stands');
    expect(standing.check('l')).toBe('stands');
    clock.now += 1;
    expect(await standing.check('l')).toBe('ended');
    expect(await hasGrant(subject, 'l')).toBe(false);
    expect(upstream.asked).toEqual({ refresh: 0, check: 0 });
    expect(recorded[0]?.details.reason).toBe('unverifiable');
  });
});

describe('an upstream that does not answer', () => {
  it('has nobody logged out: what hangs on it stands for the grace, then nobody can tell, until it is back (T-090)', async () => {
    const subject = await start({ graceSeconds: 600 });
    const { standing, link, clock, upstream, recorded, row } = subject;
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = down;
    expect(await standing.check('l')).toBe('stands');
    clock.now += 599;
    expect(standing.check('l')).toBe('stands');
    clock.now += 1;
    expect(standing.check('l')).toBe('unavailable');
    expect(standing.retryAfterSeconds('l')).toBeGreaterThanOrEqual(1);
    expect((await row('l')).unreachableSince).toBe(startOfTime + 3600);
    upstream.answers = {};
    await expect.poll(() => standing.check('l'), { interval: 10 }).toBe('stands');
    expect(await hasGrant(subject, 'l')).toBe(true);
    expect(recorded.map(({ event }) => event)).toEqual(['upstream.unavailable', 'upstream.available']);
  });

  it('is asked again with growing pauses, not by each request (T-090)', async () => {
    const { standing, link, clock, upstream } = await start(undefined, { firstPauseMs: 50 });
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = down;
    await standing.check('l');
    for (let times = 0; times < 100; times++) {
      await standing.check('l');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(upstream.asked.refresh).toBeLessThanOrEqual(4);
    expect(upstream.asked.refresh).toBeGreaterThanOrEqual(2);
  });

  it('and is slow is waited for a moment only', async () => {
    const { standing, link, clock, upstream } = await start(undefined, { patienceMs: 50 });
    await link('l', refreshable);
    clock.now += 3600;
    upstream.delayMs = 1_000;
    const begun = performance.now();
    expect(await standing.check('l')).toBe('stands');
    expect(await standing.check('l')).toBe('stands');
    expect(performance.now() - begun).toBeLessThan(800);
    await standing.idle();
    expect(upstream.asked.refresh).toBe(1);
  });

  it('stands for nobody without a grace', async () => {
    const { standing, link, clock, upstream } = await start({ graceSeconds: 0 });
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = down;
    expect(await standing.check('l')).toBe('unavailable');
  });

  it('counts the grace from the first time, also for a process that starts meanwhile', async () => {
    const { standing, link, clock, upstream, elsewhere } = await start({ graceSeconds: 600 });
    await link('l', refreshable);
    clock.now += 3600;
    upstream.answers.refresh = down;
    await standing.check('l');
    clock.now += 600;
    expect(await createLinkStatus(elsewhere()).check('l')).toBe('unavailable');
  });

  it('is nobody to ask where the settings have it no more', async () => {
    const { options, link } = await start();
    await link('l', refreshable);
    const standing = createLinkStatus({ ...options, upstreams: { find: () => undefined } });
    expect(await standing.check('l')).toBe('unavailable');
  });
});

describe('the access token for a caller', () => {
  it('is the one held, renewed where it has ended', async () => {
    const { standing, link, clock } = await start();
    await link('l', { ...refreshable, scopes: ['files'] });
    expect(await standing.tokensOf('l')).toEqual({
      accessToken: 'access of l',
      scopes: ['files'],
      expiresAt: 1_800_003_600,
      generation: 1,
    });
    clock.now += 3600;
    expect(await standing.tokensOf('l')).toMatchObject({ accessToken: 'access of l+1', generation: 2 });
  });

  it('is renewed once where an API refused it, for all whom it refused', async () => {
    const { standing, link, upstream } = await start();
    await link('l', refreshable);
    upstream.delayMs = 20;
    const given = await Promise.all(Array.from({ length: 20 }, () => standing.tokensOf('l', { after: 1 })));
    expect(new Set(given.map((token) => (token as { generation: number }).generation))).toEqual(new Set([2]));
    expect(upstream.asked.refresh).toBe(1);
  });

  it('that cannot be renewed is the same again where the upstream stands by it, and ends where it does not', async () => {
    const subject = await start();
    const { standing, link, upstream } = subject;
    await link('l');
    expect(await standing.tokensOf('l', { after: 1 })).toMatchObject({ generation: 1 });
    upstream.answers.check = refused;
    expect(await standing.tokensOf('l', { after: 1 })).toBe('ended');
    expect(await hasGrant(subject, 'l')).toBe(false);
  });

  it.each([
    ['unavailable', refreshable, down],
    ['none', { expiresAt: startOfTime + 3600 }, undefined],
  ])('is %s where %o has ended', async (word, tokens, fault) => {
    const { standing, link, clock, upstream } = await start();
    await link('l', tokens);
    clock.now += 3600;
    if (fault) upstream.answers.refresh = fault;
    expect(await standing.tokensOf('l')).toBe(word);
  });
});

describe('links in use', () => {
  it('are renewed ahead of the end, so that nobody waits', async () => {
    const { standing, link, clock, upstream, row } = await start({ checkSeconds: 10_000 });
    await link('l', { refreshToken: 'refresh', expiresAt: startOfTime + 100 });
    await standing.check('l');
    clock.now += 39;
    standing.tend();
    await standing.idle();
    expect(upstream.asked.refresh).toBe(0);
    clock.now += 1;
    standing.tend();
    await standing.idle();
    expect((await row('l')).generation).toBe(2);
  });

  it('are not looked at each second because of an end that nothing can be done about', async () => {
    const { standing, link, clock, queries } = await start({ checkSeconds: 10_000 });
    await link('l', { expiresAt: startOfTime + 100 });
    await standing.check('l');
    clock.now += 40;
    standing.tend();
    await standing.idle();
    queries.length = 0;
    clock.now += 29;
    standing.tend();
    await standing.idle();
    expect(queries).toEqual([]);
  });

  it('are asked about while somebody holds them, though nobody calls (T-091)', async () => {
    const subject = await start();
    const { standing, link, clock, upstream } = subject;
    await link('l');
    const letGo = standing.hold('l');
    standing.tend();
    await new Promise((resolve) => setTimeout(resolve, 10));
    clock.now += 5_000;
    upstream.answers.check = refused;
    standing.tend();
    await standing.idle();
    expect(await hasGrant(subject, 'l')).toBe(false);
    letGo();
    letGo();
  });

  it('are left alone when nobody has used them for long', async () => {
    const { standing, link, clock, upstream } = await start();
    await link('l');
    await standing.check('l');
    clock.now += 5_000;
    standing.tend();
    await standing.idle();
    expect(upstream.asked.check).toBe(0);
    expect(standing.load()).toEqual({ links: 1, unreachable: 0 });
  });
});
