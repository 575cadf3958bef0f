import { describe, expect, it } from 'vitest';
import {
  type CallChainFault,
  type ChainedBatch,
  checkCallChain,
  digestCalls,
  isProvenCallEnd,
  proveCallEnd,
  sealCalls,
} from '../../src/crypto/call-chain.ts';

const key = 'the key of the audit log';

/** Batches of one call each, sealed by the holder of a key. */
function makeChain(length: number, madeWith = key): ChainedBatch[] {
  const batches: ChainedBatch[] = [];
  for (let batch = 1; batch <= length; batch++) {
    const sealed = {
      ...{ batch, at: 1_000 + batch, lastSeq: batch, calls: 1, lost: 0, gap: null },
      digest: digestCalls([[batch, 'tools/call']]),
    };
    batches.push({ ...sealed, mac: sealCalls(madeWith, batches.at(-1)?.mac ?? '', sealed) });
  }
  return batches;
}

function endOf(name: 'start' | 'head', seal: ChainedBatch | undefined, madeWith = key) {
  if (!seal) return undefined;
  const { batch, lastSeq, mac } = seal;
  return { batch, lastSeq, mac, proof: proveCallEnd(madeWith, name, { batch, lastSeq, mac }) };
}

interface Checked {
  head?: ReturnType<typeof endOf>;
  start?: ReturnType<typeof endOf>;
  anchors?: ReadonlyMap<number, string>;
  /** Digests of the stored calls; default: those of the seals. */
  stored?: (seal: ChainedBatch) => { digest: string; calls: number };
}

function check(batches: readonly ChainedBatch[], more: Checked = {}): string[] {
  const { start, anchors = new Map(), stored = (seal) => seal } = more;
  const checking = checkCallChain(key, start, anchors);
  for (const seal of batches) checking.add(seal, stored(seal));
  const head = 'head' in more ? more.head : endOf('head', batches.at(-1));
  return checking.finish(head).map(({ batch, fault }: CallChainFault) => `${batch} ${fault}`);
}

describe('the chain of the call ledger', () => {
  const batches = makeChain(5);
  const [first, second] = batches;
  const newest = batches.at(-1);
  const anchors = new Map(batches.map(({ batch, mac }) => [batch, mac]));

  it('has no fault as it was written, and from the newest dropped batch on', () => {
    expect(check([])).toEqual([]);
    expect(check(batches)).toEqual([]);
    expect(check(batches, { anchors })).toEqual([]);
    expect(check(batches.slice(2), { start: endOf('start', second), anchors })).toEqual([]);
    expect(check([], { start: endOf('start', newest), head: endOf('head', newest), anchors })).toEqual([]);
  });

  it.each(['batch', 'at', 'lastSeq', 'calls', 'lost'] as const)(
    'shows a changed member of a seal: %s',
    (member) => {
      const changed = batches.map((seal) =>
        seal.batch === 3 ? { ...seal, [member]: seal[member] + 1 } : seal,
      );
      expect(check(changed)).toContain(member === 'batch' ? '3 missing' : '3 seal_changed');
    },
  );

  it('shows a gap that was hidden, and calls that were counted as lost and are not any more', () => {
    const sealed = {
      ...{ batch: 1, at: 1, lastSeq: 0, calls: 0, lost: 7, gap: 'ended', digest: digestCalls([]) },
    };
    const seal = { ...sealed, mac: sealCalls(key, '', sealed) };
    expect(check([seal])).toEqual([]);
    expect(check([{ ...seal, gap: null }])).toEqual(['1 seal_changed']);
    expect(check([{ ...seal, lost: 0 }])).toEqual(['1 seal_changed']);
  });

  it('shows calls that are not those of the seal, by their digest and their number', () => {
    const other = (seal: ChainedBatch) => ({ digest: digestCalls([[seal.batch, 'other']]), calls: 1 });
    expect(check(batches, { stored: (seal) => (seal.batch === 2 ? other(seal) : seal) })).toEqual([
      '2 calls_changed',
    ]);
    expect(check(batches, { stored: (seal) => (seal.batch === 2 ? { ...seal, calls: 0 } : seal) })).toEqual([
      '2 calls_changed',
    ]);
  });

  it('shows a removed batch, wherever it was', () => {
    expect(check(batches.filter(({ batch }) => batch !== 3))).toEqual(['3 missing', '4 seal_changed']);
    expect(check(batches.slice(1))).toEqual(['1 missing', '2 seal_changed']);
    expect(check(batches.slice(0, 4), { head: endOf('head', newest) })).toEqual(['5 cut_off']);
    expect(check([], { head: endOf('head', newest) })).toEqual(['1 cut_off']);
  });

  it('shows an end that was set by somebody without the key', () => {
    const forged = endOf('head', batches[3], 'another key');
    expect(check(batches.slice(0, 4), { head: forged })).toEqual(['4 head_forged']);
    expect(check(batches.slice(2), { start: endOf('start', second, 'another key') })).toEqual([
      '2 start_forged',
    ]);
    expect(check(batches, { head: undefined })).toEqual(['6 cut_off']);
  });

  it('takes neither end for the other', () => {
    expect(check(batches.slice(2), { start: endOf('head', second) })).toEqual(['2 start_forged']);
    expect(check(batches, { head: endOf('start', newest) })).toEqual(['5 head_forged']);
  });

  it('shows an older state that was put back whole, by what the audit log holds', () => {
    const older = batches.slice(0, 3);
    expect(check(older)).toEqual([]);
    expect(check(older, { anchors })).toEqual(['4 cut_off']);
    expect(check([], { anchors, head: undefined })).toEqual(['1 cut_off']);
  });

  it('shows a chain of its own that replaced another one, by what the audit log holds', () => {
    const another = makeChain(5, key).map((seal) => ({ ...seal, lost: 1 }));
    let previous = '';
    const replaced = another.map((seal) => {
      const mac = sealCalls(key, previous, seal);
      previous = mac;
      return { ...seal, mac };
    });
    expect(check(replaced)).toEqual([]);
    expect(check(replaced, { anchors: new Map([[2, second?.mac ?? '']]) })).toEqual(['2 other_anchor']);
  });

  it('shows a forged start behind an anchored batch', () => {
    const start = endOf('start', { ...(first as ChainedBatch), mac: 'other' });
    expect(check(batches.slice(1), { start, anchors })).toContain('2 seal_changed');
  });

  it('needs the key for each seal', () => {
    expect(check(makeChain(2, 'another key'))).toContain('1 seal_changed');
  });
});

describe('the digest of calls', () => {
  it('depends on each value, its type, its place and the order of calls', () => {
    const digests = [
      [[1, 'a', null]],
      [[1, 'a', 'null']],
      [['1', 'a', null]],
      [[1, null, 'a']],
      [[1, 'a']],
      [[1, 'a', null], []],
      [[1], ['a', null]],
      [[1, 'a', false]],
      [[1, 'a', 0]],
      [[1, 'a\n', null]],
      [],
    ].map(digestCalls);
    expect(new Set(digests).size).toBe(digests.length);
  });
});

it('An end of the chain is proven by the key, for its name and for each of its members', () => {
  const end = { batch: 2, lastSeq: 9, mac: 'mac' };
  const proven = { ...end, proof: proveCallEnd(key, 'head', end) };
  expect(isProvenCallEnd(key, 'head', proven)).toBe(true);
  expect(isProvenCallEnd(key, 'start', proven)).toBe(false);
  expect(isProvenCallEnd('another key', 'head', proven)).toBe(false);
  for (const changed of [{ batch: 3 }, { lastSeq: 8 }, { mac: 'other' }, { proof: '' }])
    expect(isProvenCallEnd(key, 'head', { ...proven, ...changed })).toBe(false);
});
