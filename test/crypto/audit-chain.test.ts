import { describe, expect, it } from 'vitest';
import {
  type ChainLink,
  checkChain,
  hashRow,
  isSealedEnd,
  sealEnd,
  tamperingEvent,
} from '../../src/crypto/audit-chain.ts';

const key = 'the key of the audit log';

/** A log of some rows, made by who holds a key. */
function makeLog(length: number, madeWith = key): ChainLink[] {
  const rows: ChainLink[] = [];
  for (let seq = 1; seq <= length; seq++) {
    const row = {
      seq,
      at: 1000 + seq,
      event: 'token.issued',
      details: `{"n":"${seq}"}`,
      previous: rows.at(-1)?.hash ?? '',
    };
    rows.push({ ...row, hash: hashRow(madeWith, row) });
  }
  return rows;
}

function headOf(rows: ChainLink[], madeWith = key) {
  const last = rows.at(-1);
  return last && sealEnd(madeWith, 'head', last.seq, last.hash);
}

function check(
  rows: readonly ChainLink[],
  {
    head = headOf([...rows]),
    start,
    known,
  }: {
    head?: ReturnType<typeof headOf>;
    start?: ReturnType<typeof sealEnd>;
    known?: { seq: number; hash: string };
  } = {},
): string[] {
  const checking = checkChain(key, start, known);
  for (const row of rows) checking.add(row);
  return checking.finish(head).map(({ seq, fault }) => `${seq} ${fault}`);
}

describe('the chain of the audit log', () => {
  it('is whole as it was written, and as it is when its oldest rows were dropped', () => {
    const rows = makeLog(5);
    expect(check(rows)).toEqual([]);
    expect(check([])).toEqual([]);
    const start = sealEnd(key, 'start', 2, rows[1]?.hash ?? '');
    expect(check(rows.slice(2), { start })).toEqual([]);
    expect(check([], { start: sealEnd(key, 'start', 5, rows[4]?.hash ?? ''), head: headOf(rows) })).toEqual(
      [],
    );
  });

  it.each<[string, (rows: ChainLink[]) => ChainLink[], string[]]>([
    [
      'a changed detail',
      (rows) => rows.map((row) => (row.seq === 3 ? { ...row, details: '{}' } : row)),
      ['3 changed'],
    ],
    [
      'a changed event',
      (rows) => rows.map((row) => (row.seq === 3 ? { ...row, event: 'x' } : row)),
      ['3 changed'],
    ],
    ['a changed time', (rows) => rows.map((row) => (row.seq === 5 ? { ...row, at: 0 } : row)), ['5 changed']],
    ['a removed row', (rows) => rows.filter(({ seq }) => seq !== 3), ['3 missing']],
    ['removed first rows', (rows) => rows.slice(2), ['1 missing']],
    [
      'a removed row whose successors were numbered anew',
      (rows) =>
        rows.filter(({ seq }) => seq !== 3).map((row) => (row.seq > 3 ? { ...row, seq: row.seq - 1 } : row)),
      ['3 missing', '3 changed', '4 changed', '5 cut_off'],
    ],
    [
      'rows in another order',
      ([a, b, c, ...rest]) => [a, { ...c, seq: 2 }, { ...b, seq: 3 }, ...rest] as ChainLink[],
      ['2 missing', '2 changed', '3 missing', '3 changed', '4 missing'],
    ],
    ['a cut off end', (rows) => rows.slice(0, 3), ['4 cut_off']],
    ['everything removed', () => [], ['1 cut_off']],
  ])('shows %s (T-197)', (_what, change, faults) => {
    const rows = makeLog(5);
    expect(check(change(rows), { head: headOf(rows) })).toEqual(faults);
  });

  it('shows rows that were written without the key, whole as their chain may be', () => {
    const forged = makeLog(3, 'another key');
    expect(check(forged, { head: headOf(forged, 'another key') })).toEqual([
      '1 changed',
      '2 changed',
      '3 changed',
      '3 head_forged',
    ]);
  });

  it('shows ends that were written without the key', () => {
    const rows = makeLog(3);
    expect(check(rows.slice(0, 2), { head: headOf(rows.slice(0, 2), 'another key') })).toEqual([
      '2 head_forged',
    ]);
    const start = sealEnd('another key', 'start', 1, rows[0]?.hash ?? '');
    expect(check(rows.slice(1), { start })).toEqual(['1 start_forged']);
    expect(isSealedEnd(key, 'start', { ...sealEnd(key, 'head', 1, 'x') })).toBe(false);
  });

  it('shows rows added behind the end, and an end that is gone', () => {
    const rows = makeLog(3);
    expect(check(rows, { head: headOf(rows.slice(0, 2)) })).toEqual(['3 added']);
    const checking = checkChain(key, undefined);
    for (const row of rows) checking.add(row);
    expect(checking.finish(undefined)).toEqual([{ seq: 1, fault: 'added' }]);
  });

  it('put back to an earlier state is shown by a head that was noted elsewhere, and by nothing else', () => {
    const rows = makeLog(5);
    const earlier = rows.slice(0, 3);
    const known = { seq: 5, hash: rows[4]?.hash ?? '' };
    expect(check(earlier)).toEqual([]);
    expect(check(earlier, { known })).toEqual(['3 ends_before_head']);
    expect(check([], { known })).toEqual(['0 ends_before_head']);
    expect(check(rows, { known })).toEqual([]);
    expect(check(rows, { known: { seq: 3, hash: known.hash } })).toEqual(['3 other_head']);
  });

  it('says where it noticed tampering itself', () => {
    const [first] = makeLog(1);
    const row = { seq: 2, at: 1, event: tamperingEvent, details: '{}', previous: first?.hash ?? '' };
    expect(check([first as ChainLink, { ...row, hash: hashRow(key, row) }])).toEqual(['2 tampering_noticed']);
  });
});
