import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { BackendFailure } from '../../../src/gateway/backends/backend-errors.ts';
import { Discoveries, Eras, namedRevisions, namesModern } from '../../../src/gateway/modern/eras.ts';
import type { ModernFailure, ModernHearing } from '../../../src/gateway/modern/modern-link.ts';
import { createCaller } from '../../mcp/support/modern-calls.ts';

const caller = createCaller();
const modern = { status: 200, result: { supportedVersions: ['2026-07-28'], ttlMs: 1, cacheScope: 'public' } };
const errorOf = (code: number, data?: unknown) => ({ status: 400, error: { code, message: 'm', data } });
const failure = (
  more: Partial<ModernFailure>,
  reason: BackendFailure = 'backend_refused',
): ModernFailure => ({
  error: { code: -32603, message: 'm' },
  isBroken: false,
  isOther: false,
  detail: { reason },
  ...more,
});

function start(
  said: (hearing: ModernHearing) => void,
  { patienceMs, probeMs = 50 }: { patienceMs?: number; probeMs?: number } = {},
) {
  let nowMs = 0;
  let answer = said;
  const asked: string[] = [];
  const dropped = vi.fn();
  const eras = new Eras({
    link: {
      isHttp: true,
      send({ method }, _from, hearing) {
        asked.push(method);
        queueMicrotask(() => answer(hearing));
        return dropped;
      },
      renew() {},
      close: async () => undefined,
    },
    discoveries: new Discoveries(() => nowMs),
    probeMs,
    ...(patienceMs !== undefined && { patienceMs }),
    nowMs: () => nowMs,
  });
  return {
    eras,
    asked,
    dropped,
    passMs: (ms: number) => (nowMs += ms),
    becomes: (next: typeof said) => {
      answer = next;
    },
  };
}

describe('which eras a server speaks (B1-09, B5-15)', () => {
  it.each([
    ['a result that lists 2026-07-28', modern, true],
    ['a result that lists others', { status: 200, result: { supportedVersions: ['2027-01-01'] } }, false],
    ['a result of something else', { status: 200, result: {} }, false],
    ['an unknown method', errorOf(-32601), false],
    ['a request before initialize', errorOf(-32000), false],
    ['headers that do not fit', errorOf(-32020), true],
    ['a revision it has not, that names 2026-07-28', errorOf(-32022, { supported: ['2026-07-28'] }), true],
    ['a revision it has not, that names others', errorOf(-32022, { supported: ['2025-11-25'] }), false],
  ])('is told by the answer: %s', async (_what, said, speaks) => {
    const { eras } = start((hearing) => hearing.answered(said));
    expect(await eras.speaksModern(caller)).toBe(speaks);
  });

  it('is asked once for all who want to know, and remembered (C3-09)', async () => {
    const { eras, asked, passMs } = start((hearing) => hearing.answered(modern));
    expect(await Promise.all([eras.speaksModern(caller), eras.speaksModern(caller)])).toEqual([true, true]);
    passMs(10_000_000);
    expect(await eras.speaksModern(caller)).toBe(true);
    expect(asked).toEqual(['server/discover']);
  });

  it('is asked again after ten minutes where it was an older server, which may have been replaced', async () => {
    const { eras, asked, passMs, becomes } = start((hearing) => hearing.failed(failure({ isOther: true })));
    expect(await eras.speaksModern(caller)).toBe(false);
    passMs(599_999);
    expect(await eras.speaksModern(caller)).toBe(false);
    expect(asked).toHaveLength(1);
    becomes((hearing) => hearing.answered(modern));
    passMs(1);
    expect(await eras.speaksModern(caller)).toBe(true);
  });

  it('is not decided by a server that says nothing in time, or cannot be reached', async () => {
    const { eras, asked, dropped, passMs, becomes } = start(() => undefined);
    expect(await eras.speaksModern(caller)).toBe(false);
    expect(dropped).toHaveBeenCalledOnce();
    passMs(60_000);
    becomes((hearing) => hearing.failed(failure({ isBroken: true }, 'backend_unreachable')));
    expect(await eras.speaksModern(caller)).toBe(false);
    becomes((hearing) => hearing.answered(modern));
    expect(await eras.speaksModern(caller)).toBe(true);
    expect(asked).toHaveLength(3);
  });

  it('is not decided by silence where it then refuses initialize, and is where it answers that', async () => {
    const { eras, asked, becomes } = start(() => undefined);
    expect(await eras.speaksModern(caller)).toBe(false);
    becomes((hearing) => hearing.answered(modern));
    expect(await eras.speaksModern(caller)).toBe(false);
    expect(await eras.speaksModernAlone(caller)).toBe(true);
    const older = start((hearing) => hearing.failed(failure({}, 'backend_failed')));
    expect(await older.eras.speaksModern(caller)).toBe(false);
    older.eras.speaksLegacy = true;
    older.passMs(599_999);
    expect(await older.eras.speaksModern(caller)).toBe(false);
    expect([asked.length, older.asked.length]).toEqual([2, 1]);
  });

  it('is asked again after ten minutes where it said nothing and answers initialize, while callers are served in older revisions', async () => {
    const { eras, asked, passMs, becomes } = start(() => undefined);
    expect(await eras.speaksModern(caller)).toBe(false);
    eras.speaksLegacy = true;
    passMs(600_000);
    becomes((hearing) => hearing.failed(failure({}, 'backend_busy')));
    expect(await eras.speaksModern(caller)).toBe(false);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    becomes((hearing) => hearing.answered(modern));
    await pause(5);
    const sinceMs = performance.now();
    expect(await eras.speaksModern(caller)).toBe(false);
    expect(performance.now() - sinceMs).toBeLessThan(50);
    await vi.waitFor(() => expect(eras.known).toBe(true));
    expect(asked).toHaveLength(3);
  });

  it('is known once it says late that it speaks 2026-07-28', async () => {
    const { eras } = start(() => undefined);
    expect(await eras.speaksModern(caller)).toBe(false);
    eras.speaksLegacy = true;
    eras.heardModern();
    expect(await eras.speaksModern(caller)).toBe(true);
  });

  it('is asked again once where it says nothing and refuses initialize, and then seldom, whoever comes', async () => {
    const { eras, asked, passMs, becomes } = start(() => undefined);
    const openTimes = async (times: number) => {
      for (let time = 0; time < times; time++) expect(await eras.speaksModernAlone(caller)).toBe(false);
      return asked.length;
    };
    expect(await openTimes(1)).toBe(1);
    expect(await openTimes(3)).toBe(2);
    passMs(4_999);
    expect(await openTimes(3)).toBe(2);
    passMs(1);
    expect(await openTimes(3)).toBe(3);
    becomes((hearing) => hearing.answered(modern));
    passMs(5_000);
    expect(await eras.speaksModernAlone(caller)).toBe(true);
  });

  it('is waited for once by all: who comes late does not wait as long again', async () => {
    const never = start(() => undefined, { patienceMs: 60_000, probeMs: 1000 });
    const first = never.eras.speaksModern(caller);
    never.passMs(60_000);
    const sinceMs = performance.now();
    expect(await never.eras.speaksModern(caller)).toBe(false);
    expect(performance.now() - sinceMs).toBeLessThan(500);
    expect(await first).toBe(false);
    expect(never.asked).toHaveLength(1);
  });

  it.each<[string, Partial<ModernFailure>]>([
    ['has no credentials', { detail: undefined }],
    ['is not let in with theirs', { detail: { reason: 'backend_wants_login' } }],
    ['has too much under way', { detail: { reason: 'backend_busy' } }],
  ])('is not decided for others by a caller who %s (T-158)', async (_what, why) => {
    const { eras, becomes } = start((hearing) => hearing.failed(failure(why)));
    expect(await eras.speaksModern(caller)).toBe(false);
    becomes((hearing) => hearing.answered(modern));
    expect(await eras.speaksModern(createCaller('bob'))).toBe(true);
  });

  it('is asked again where it is doubted, seldom, and only what it says changes it', async () => {
    const { eras, asked, passMs, becomes } = start((hearing) => hearing.answered(modern));
    const outdated = vi.fn();
    eras.onOutdated(outdated);
    await eras.speaksModern(caller);
    for (let time = 0; time < 5; time++) eras.doubt(caller);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    becomes((hearing) => hearing.failed(failure({}, 'backend_failed')));
    passMs(5_000);
    eras.doubt(caller);
    await Promise.resolve();
    expect(await eras.speaksModern(caller)).toBe(true);
    expect(outdated).not.toHaveBeenCalled();
    eras.speaksLegacy = false;
    becomes((hearing) => hearing.answered(errorOf(-32601)));
    passMs(5_000);
    eras.doubt(caller);
    await vi.waitFor(() => expect(outdated).toHaveBeenCalledOnce());
    expect([await eras.speaksModern(caller), eras.speaksLegacy]).toEqual([false, undefined]);
  });
});

describe('named revisions', () => {
  const error = (data?: unknown) => ({ error: { code: -32022, message: 'Unsupported', data } });

  describe('C3-03, C3-08: the revisions a server speaks', () => {
    it('are those of its answer, or of the error with which it refuses another', () => {
      expect(namedRevisions({ result: { supportedVersions: ['2026-07-28', '2027-01-01'] } })).toEqual([
        '2026-07-28',
        '2027-01-01',
      ]);
      expect(namedRevisions(error({ supported: ['2025-11-25'] }))).toEqual(['2025-11-25']);
    });

    it.each([[{ result: {} }], [{ result: { supportedVersions: '2026-07-28' } }], [error()], [error({})]])(
      'are none where it names none: %j',
      (answer) => {
        expect([namedRevisions(answer), namesModern(answer)]).toEqual([undefined, false]);
      },
    );

    it('have 2026-07-28 among them or not', () => {
      const named = [['2026-07-28'], ['2025-11-25', '2026-07-28'], ['2025-11-25'], []];
      expect(named.map((supported) => namesModern(error({ supported })))).toEqual([true, true, false, false]);
    });
  });
});

describe('kept discoveries', () => {
  const [ann, bob] = [createCaller('ann'), createCaller('bob')];
  const result = (more: object) => ({ supportedVersions: ['2026-07-28'], capabilities: {}, ...more });

  function start() {
    let nowMs = 0;
    const discoveries = new Discoveries(() => nowMs);
    return { discoveries, passMs: (ms: number) => (nowMs += ms) };
  }

  describe('what a server answered to server/discover (C3-03, C6-07, C6-08)', () => {
    it('is kept for the principal that asked, and for nobody else where it is private', () => {
      const { discoveries } = start();
      discoveries.keep(ann, result({ ttlMs: 1000, cacheScope: 'private' }));
      expect(discoveries.find(ann)).toMatchObject({ ttlMs: 1000 });
      expect(discoveries.find(bob)).toBeUndefined();
    });

    it('is kept for everybody where it is public, with the time that is left', () => {
      const { discoveries, passMs } = start();
      discoveries.keep(ann, result({ ttlMs: 1000, cacheScope: 'public' }));
      passMs(400);
      expect(discoveries.find(bob)).toMatchObject({ ttlMs: 600 });
      passMs(600);
      expect(discoveries.find(bob)).toBeUndefined();
    });

    it('is kept for nobody else at a server that knows who calls, even if it is public', () => {
      const discoveries = new Discoveries(() => 0, true);
      discoveries.keep(ann, result({ ttlMs: 1000, cacheScope: 'public' }));
      expect(discoveries.find(ann)).toBeDefined();
      expect(discoveries.find(bob)).toBeUndefined();
    });

    it('is kept for an hour at most, and not where it says so or says nothing', () => {
      const { discoveries, passMs } = start();
      for (const ttlMs of [0, -1, undefined, 'long']) discoveries.keep(ann, result({ ttlMs }));
      expect(discoveries.find(ann)).toBeUndefined();
      discoveries.keep(ann, result({ ttlMs: Number.MAX_VALUE }));
      passMs(3_600_000);
      expect(discoveries.find(ann)).toBeUndefined();
    });

    it('is forgotten as a whole', () => {
      const { discoveries } = start();
      discoveries.keep(ann, result({ ttlMs: 1000, cacheScope: 'public' }));
      discoveries.clear();
      expect(discoveries.find(ann)).toBeUndefined();
    });
  });
});
