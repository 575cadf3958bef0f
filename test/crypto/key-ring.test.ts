import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKeyFile, KeyFileFault } from '../../src/crypto/key-file.ts';
import { createFileKeyStore, openKeyRing } from '../../src/crypto/key-ring.ts';
import { createSealedBox, SealBroken } from '../../src/crypto/sealed-box.ts';
import { testFolder } from '../client/support/folder.ts';

/** Rings over one key file, as of several processes, under one clock. */
async function startRings() {
  const file = join(testFolder(), 'gatehouse.keys.json');
  const clock = { now: 1000 };
  await createKeyFile(file, clock.now);
  const open = () =>
    openKeyRing(
      createFileKeyStore(file, async (work) => work()),
      () => clock.now,
    );
  return { file, clock, open };
}

describe('a key ring', () => {
  it('knows a new key at once, uses it in time, keeps the old one, and drops it when it is told (T-178)', async () => {
    const { clock, open } = await startRings();
    const ring = open();
    const { cookies } = ring.keys;
    const [old] = cookies;
    const { key, isNew } = await ring.rotate('cookies');
    expect([isNew, key.state, key.activeAt]).toEqual([true, 'next', 1010]);
    expect([cookies.length, cookies[0]]).toEqual([2, old]);
    clock.now = 1010;
    expect(ring.refresh()).toBe(true);
    expect([cookies.length, cookies[1]]).toEqual([2, old]);
    expect(ring.refresh()).toBe(false);
    const retiring = ring.list().find(({ state }) => state === 'retiring');
    expect(await ring.drop('cookies', [key.id])).toEqual([]);
    expect(await ring.drop('cookies', [retiring?.id ?? ''])).toEqual([retiring?.id]);
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).not.toBe(old);
  });

  it('takes what another process rotated', async () => {
    const { clock, open } = await startRings();
    const [one, other] = [open(), open()];
    await one.rotate('signing');
    expect(other.keys.signing).toHaveLength(1);
    expect(other.refresh()).toBe(true);
    expect(other.keys).toEqual(one.keys);
    clock.now += 900;
    expect([one.refresh(), other.refresh()]).toEqual([true, true]);
    expect(other.keys).toEqual(one.keys);
    expect(other.keys.signing[0]?.kid).toBe(other.list()[0]?.id);
  });

  it('rotates once where it is asked twice, by whomever (T-192)', async () => {
    const { open } = await startRings();
    const rings = Array.from({ length: 4 }, open);
    const rotated = await Promise.all(rings.map((ring) => ring.rotate('sealing')));
    expect(rotated.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(rotated.map(({ key }) => key.id)).size).toBe(1);
    expect(open().keys.sealing).toHaveLength(2);
  });

  it('changes one kind and leaves the others', async () => {
    const { open } = await startRings();
    const ring = open();
    const before = structuredClone(ring.keys);
    await ring.rotate('signing');
    expect({ ...ring.keys, signing: 0 }).toEqual({ ...before, signing: 0 });
  });

  it('passes over a key that a clock dated years ahead, and still opens what it sealed; the current one stays until the new one', async () => {
    const { clock, open } = await startRings();
    const ring = open();
    const box = createSealedBox(ring.keys.sealing);
    const before = box.seal('before', 'x');
    clock.now = 1e8;
    const ahead = (await ring.rotate('sealing')).key;
    clock.now += 10;
    ring.refresh();
    const sealedAhead = box.seal('ahead', 'x');
    clock.now = 2000;
    const other = open();
    const opened = () =>
      [sealedAhead, before].map((sealed) => createSealedBox(other.keys.sealing).open(sealed, 'x'));
    const current = other.keys.sealing[0]?.id;
    const { key, isNew, misdated } = await other.rotate('sealing');
    expect([isNew, key.activeAt, misdated.map(({ id }) => id)]).toEqual([true, 2010, [ahead.id]]);
    expect(await other.rotate('sealing')).toEqual({ key, isNew: false, misdated: [] });
    expect([other.keys.sealing[0]?.id, opened()]).toEqual([current, ['ahead', 'before']]);
    clock.now = 2010;
    other.refresh();
    expect([other.keys.sealing[0]?.id, opened()]).toEqual([key.id, ['ahead', 'before']]);
    const retiring = other.list().filter(({ state }) => state === 'retiring');
    expect(retiring.map(({ id, retiredAt }) => [id, retiredAt])).toEqual([
      [ahead.id, 2010],
      [current, 2010],
    ]);
  });

  it('whose only key is dated ahead uses that one until the next', async () => {
    const { clock, open } = await startRings();
    clock.now = 10;
    const ring = open();
    const [only] = ring.keys.cookies;
    const { key } = await ring.rotate('cookies');
    expect([key.activeAt, ring.keys.cookies[0]]).toEqual([20, only]);
    clock.now = 20;
    ring.refresh();
    expect(ring.keys.cookies[1]).toBe(only);
  });

  it('keeps its keys where the file is gone, open to others or damaged, and says so (T-163, T-179)', async () => {
    const { file, open } = await startRings();
    const ring = open();
    const before = structuredClone(ring.keys);
    const text = readFileSync(file, 'utf8');
    await ring.rotate('cookies');
    chmodSync(file, 0o644);
    expect(() => open()).toThrow(/chmod 600/);
    const other = open;
    chmodSync(file, 0o600);
    const second = other();
    rmSync(file);
    expect(() => second.refresh()).toThrow(KeyFileFault);
    await expect(second.rotate('sealing')).rejects.toThrow(KeyFileFault);
    expect(second.keys.sealing).toEqual(before.sealing);
    expect(text).not.toBe('');
  });

  it('gives boxes that seal with the new key and open what the old one sealed, until it is dropped', async () => {
    const { clock, open } = await startRings();
    const ring = open();
    const box = createSealedBox(ring.keys.sealing);
    const sealed = box.seal('text', 'x');
    await ring.rotate('sealing');
    clock.now += 10;
    ring.refresh();
    const [retiring] = ring.list().filter(({ kind, state }) => kind === 'sealing' && state === 'retiring');
    expect(box.open(sealed, 'x')).toBe('text');
    const fresh = box.seal('text', 'x');
    await ring.drop('sealing', [retiring?.id ?? '']);
    expect(() => box.open(sealed, 'x')).toThrow(SealBroken);
    expect(box.open(fresh, 'x')).toBe('text');
  });
});
