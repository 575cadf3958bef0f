import { describe, expect, it } from 'vitest';
import { Discoveries } from '../../../src/gateway/modern/discoveries.ts';
import { createCaller } from '../../mcp/support/modern-calls.ts';

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
