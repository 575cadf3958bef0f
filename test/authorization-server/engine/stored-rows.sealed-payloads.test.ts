import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  createRememberedPayloads,
  payloadContext,
} from '../../../src/authorization-server/engine/stored-rows.ts';
import { createSealedBox, SealBroken } from '../../../src/crypto/sealed-box.ts';

function start() {
  const box = createSealedBox([{ id: 'k', key: randomBytes(32).toString('base64url') }]);
  let opens = 0;
  const counting: typeof box = {
    ...box,
    open(sealed, context) {
      opens++;
      return box.open(sealed, context);
    },
  };
  const sealElsewhere = (id: string, value: unknown) => ({
    id,
    payload: box.seal(JSON.stringify(value), payloadContext('Grant', id)),
  });
  return { ...createRememberedPayloads(counting, 'Grant'), sealElsewhere, opens: () => opens };
}

it('the same bytes of a row are opened once, and every reader gets a value of its own', () => {
  const { open, sealElsewhere, opens } = start();
  const row = sealElsewhere('g', { scopes: ['a'] });
  const first = open<{ scopes: string[] }>(row);
  first.scopes.push('b');
  expect(open({ id: 'g', payload: Buffer.from(row.payload) })).toEqual({ scopes: ['a'] });
  expect(opens()).toBe(1);
});

it('a row that was written since is opened anew, also where it says the same', () => {
  const { open, sealElsewhere, opens } = start();
  for (const value of [1, 2, 2]) expect(open(sealElsewhere('g', value))).toBe(value);
  expect(opens()).toBe(3);
});

it('what was changed in the database, or moved to another row, is refused however often it was opened', () => {
  const { open, sealElsewhere } = start();
  const row = sealElsewhere('g', { scopes: ['a'] });
  open(row);
  const changed = Buffer.from(row.payload);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  expect(() => open({ id: 'g', payload: changed })).toThrow(SealBroken);
  expect(() => open({ id: 'another', payload: row.payload })).toThrow(SealBroken);
  expect(open(row)).toEqual({ scopes: ['a'] });
});

it('a bounded number of rows is remembered, the newest', () => {
  const { open, sealElsewhere, opens } = start();
  const rows = Array.from({ length: 2001 }, (_, n) => sealElsewhere(`g${n}`, n));
  for (const row of rows) open(row);
  for (const row of rows.slice(1)) open(row);
  expect(opens()).toBe(2001);
  expect(open(rows[0] as (typeof rows)[number])).toBe(0);
  expect(opens()).toBe(2002);
});

it('what was sealed here is not opened again, and is bound to its row', () => {
  const { open, seal, opens } = start();
  const payload = seal('g', { scopes: ['a'] });
  expect(open({ id: 'g', payload: Buffer.from(payload) })).toEqual({ scopes: ['a'] });
  expect(opens()).toBe(0);
  expect(() => open({ id: 'another', payload })).toThrow(SealBroken);
  expect(payload.includes('scopes')).toBe(false);
});

it('what is sealed again takes the place of what was sealed before, and is remembered as the newest', () => {
  const { open, seal, opens } = start();
  const before = seal('g', 1);
  for (let n = 0; n < 1999; n++) seal(`g${n}`, n);
  const payload = seal('g', 2);
  seal('one more', 0);
  expect(open({ id: 'g', payload })).toBe(2);
  expect(opens()).toBe(0);
  expect(open({ id: 'g', payload: before })).toBe(1);
  expect(opens()).toBe(1);
});

it('nothing stays for longer than a minute, and nothing long at all', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { open, seal, opens } = start();
  const payload = seal('g', 'short');
  const long = seal('h', 'x'.repeat(4096));
  expect(open({ id: 'g', payload })).toBe('short');
  expect(opens()).toBe(0);
  expect(open({ id: 'h', payload: long })).toBe('x'.repeat(4096));
  expect(open({ id: 'h', payload: long })).toBe('x'.repeat(4096));
  expect(opens()).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(open({ id: 'g', payload })).toBe('short');
  expect(opens()).toBe(3);
});
