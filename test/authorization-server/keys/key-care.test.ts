import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type KeyCareOptions, startKeyCare } from '../../../src/authorization-server/keys/key-care.ts';
import { createKeyFile } from '../../../src/crypto/key-file.ts';
import { createFileKeyStore, openKeyRing } from '../../../src/crypto/key-ring.ts';
import type { KeyKind } from '../../../src/crypto/key-schedule.ts';
import { testFolder } from '../../client/support/folder.ts';

const never = { signing: 0, cookies: 0, sealing: 0 };
const keep = { signing: 100, cookies: 200, sealing: 300 };

/** Care of a fresh key file under a clock of its own; nothing happens but by `look`. */
async function startCare(options: Partial<KeyCareOptions> = {}) {
  const file = join(testFolder(), 'gatehouse.keys.json');
  const clock = { now: 1000 };
  await createKeyFile(file, clock.now);
  const ring = openKeyRing(
    createFileKeyStore(file, async (work) => work()),
    () => clock.now,
  );
  const events: string[] = [];
  const warnings: string[] = [];
  const care = startKeyCare({
    ring,
    rotateAfterSeconds: never,
    keepSeconds: keep,
    isSealedAnew: async () => true,
    record: (event, { kind }) => void events.push(`${event} ${kind}`),
    logger: {
      warn: (_details: object, text: string) => void warnings.push(text),
    } as KeyCareOptions['logger'],
    now: () => clock.now,
    intervalMs: 60_000,
    ...options,
  });
  const states = (kind: KeyKind): string[] =>
    ring
      .list()
      .filter((key) => key.kind === kind)
      .map(({ state }) => state);
  const lookAt = async (now: number): Promise<void> => {
    clock.now = now;
    await care.look();
  };
  return { file, ring, care, clock, events, warnings, states, lookAt };
}

describe('the care of keys', () => {
  it('rotates a key when it is old, and drops the old one when what it signed has ended (T-178)', async () => {
    const { lookAt, states, events, care } = await startCare({
      rotateAfterSeconds: { ...never, cookies: 5000 },
    });
    await lookAt(5999);
    expect(states('cookies')).toEqual(['current']);
    await lookAt(6060);
    expect(states('cookies')).toEqual(['next', 'current']);
    await lookAt(6070);
    expect(states('cookies')).toEqual(['current', 'retiring']);
    await lookAt(6269);
    expect(states('cookies')).toEqual(['current', 'retiring']);
    await lookAt(6330);
    expect(states('cookies')).toEqual(['current']);
    expect(events).toEqual(['key.rotated cookies', 'key.dropped cookies']);
    expect([states('signing'), states('sealing')]).toEqual([['current'], ['current']]);
    await care.close();
  });

  it('drops a sealing key when nothing is sealed with it, and not before its time (T-179)', async () => {
    let isSpent = false;
    const { ring, lookAt, states, care } = await startCare({ isSealedAnew: async () => isSpent });
    await ring.rotate('sealing');
    await lookAt(1010);
    await lookAt(5000);
    expect(states('sealing')).toEqual(['current', 'retiring']);
    isSpent = true;
    await lookAt(5060);
    expect(states('sealing')).toEqual(['current', 'retiring']);
    await lookAt(1010 + 3600);
    await lookAt(5060 + 3600);
    expect(states('sealing')).toEqual(['current']);
    await care.close();
  });

  it('does not wait for a key that a clock dated years ahead, and says once that there is one', async () => {
    const { ring, lookAt, clock, states, events, warnings, care } = await startCare({
      rotateAfterSeconds: { ...never, cookies: 5000 },
    });
    clock.now = 1e8;
    await ring.rotate('cookies');
    await lookAt(5000);
    await lookAt(5100);
    expect([states('cookies'), events]).toEqual([['next', 'current'], []]);
    expect(warnings).toEqual([expect.stringContaining('gatehouse keys rotate --clock-is-right')]);
    await lookAt(6000);
    await lookAt(6010);
    expect(events).toEqual(['key.rotated cookies']);
    expect(states('cookies')).toEqual(['current', 'retiring', 'retiring']);
    expect(warnings).toHaveLength(1);
    await care.close();
  });

  it('rotates nothing under a clock that is behind', async () => {
    const { ring, lookAt, states, events, care } = await startCare({
      rotateAfterSeconds: { signing: 5000, cookies: 5000, sealing: 5000 },
    });
    await ring.rotate('cookies');
    await lookAt(0);
    await lookAt(100);
    expect([states('cookies'), events]).toEqual([['next', 'current'], []]);
    await care.close();
  });

  it('leaves keys to the operator where it is told so', async () => {
    const { lookAt, events, care } = await startCare();
    await lookAt(1e9);
    expect(events).toEqual([]);
    await care.close();
  });

  it('says once that the key file is gone, and the keys in use stay (T-179)', async () => {
    const { file, ring, lookAt, warnings, care } = await startCare();
    const before = structuredClone(ring.keys);
    rmSync(file);
    await lookAt(1001);
    await lookAt(1002);
    expect(warnings).toHaveLength(1);
    expect(ring.keys).toEqual(before);
    await care.close();
  });

  it('looks by itself, until it is closed', async () => {
    const { ring, clock, care } = await startCare({ intervalMs: 5 });
    await ring.rotate('cookies');
    clock.now = 1010;
    await expect.poll(() => ring.list().filter(({ state }) => state === 'retiring').length).toBe(1);
    await care.close();
  });
});
