import { describe, expect, it } from 'vitest';
import { InFlightMap } from '../../src/collections/in-flight-map.ts';

describe('the map of what is in flight', () => {
  it('has what was put under a key, and not what was deleted', () => {
    const map = new InFlightMap<string | number, string>();
    map.set('1', 'text');
    map.set(1, 'number');
    map.set(1, 'another number');
    expect([map.size, map.get(1), map.get('1'), map.has(2), map.get('__proto__')]).toEqual([
      2,
      'another number',
      'text',
      false,
      undefined,
    ]);
    expect([map.delete(1), map.delete(1), map.has(1), map.get(1), map.size]).toEqual([
      true,
      false,
      false,
      undefined,
      1,
    ]);
    map.set(1, 'again');
    expect([map.get(1), map.size]).toEqual(['again', 2]);
    map.clear();
    expect([map.size, map.has(1), map.keys(), map.values()]).toEqual([0, false, [], []]);
  });

  it('gives keys and values in their order, those of the moment it was asked', () => {
    const map = new InFlightMap<number, string>();
    for (let key = 0; key < 100; key++) map.set(key, `value ${key}`);
    for (let key = 0; key < 97; key++) map.delete(key);
    const values = map.values();
    for (const key of map.keys()) map.delete(key);
    expect([values, map.values(), map.size]).toEqual([['value 97', 'value 98', 'value 99'], [], 0]);
  });

  it('keeps what stays through any number that come and go', () => {
    const map = new InFlightMap<number, number>();
    const plain = new Map<number, number>();
    // Every third stays for 200 turns, the others for one.
    for (let turn = 1; turn <= 5000; turn++) {
      map.set(turn, turn);
      plain.set(turn, turn);
      for (const key of [turn % 3 === 0 ? 0 : turn - 1, turn - 200])
        if (key % 3 !== 0 || key === turn - 200) expect(map.delete(key)).toBe(plain.delete(key));
    }
    expect([map.size, map.keys(), map.values()]).toEqual([
      plain.size,
      [...plain.keys()],
      [...plain.values()],
    ]);
  });

  it('is as a plain map while entries come and go, through none, one and two of them', () => {
    const keys = [1, '1', 0, '', undefined, null, true, 'a'];
    const map = new InFlightMap<unknown, number>();
    const plain = new Map<unknown, number>();
    let random = 1;
    const draw = (below: number): number => {
      random = (random * 48271) % 2147483647;
      return random % below;
    };
    const sizes = new Set<number>();
    for (let turn = 1; turn <= 20_000; turn++) {
      const key = keys[draw(keys.length)];
      if (draw(400) === 0) {
        map.clear();
        plain.clear();
      } else if (draw(100) < 35) {
        map.set(key, turn);
        plain.set(key, turn);
      } else expect(map.delete(key)).toBe(plain.delete(key));
      sizes.add(map.size);
      expect([map.size, ...keys.map((each) => map.get(each))]).toEqual([
        plain.size,
        ...keys.map((each) => plain.get(each)),
      ]);
      expect(map.values().sort()).toEqual([...plain.values()].sort());
    }
    expect([0, 1, 2, 3].every((size) => sizes.has(size))).toBe(true);
  });
});
