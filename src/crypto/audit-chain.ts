import { equalSecrets, keyedDigest } from './secret.ts';

/** The hashed part of an audit row. */
export interface ChainRow {
  seq: number;
  at: number;
  event: string;
  details: string;
  /** Hash of the previous row; empty for the first one. */
  previous: string;
}

/** A row with its hash. */
export interface ChainLink extends ChainRow {
  hash: string;
}

/** The sealed start or head of the log. */
export interface ChainEnd {
  seq: number;
  hash: string;
  mac: string;
}

/** A fault and its position in the log; for `ends_before_head`, the position of the last row. */
export interface ChainFault {
  seq: number;
  fault:
    | 'missing'
    | 'changed'
    | 'cut_off'
    | 'added'
    | 'start_forged'
    | 'head_forged'
    | 'tampering_noticed'
    | 'other_head'
    | 'ends_before_head';
}

/** Event by which the log records that its end had been changed. */
export const tamperingEvent = 'audit.tampering_noticed';

/**
 * Returns the hash of a row (HMAC-SHA-256), which covers all rows before it.
 * @param key of the audit log; without it nobody can write a valid row
 */
export function hashRow(key: string, { seq, at, event, details, previous }: ChainRow): string {
  return keyedDigest(key, 'row', seq, at, event, details, previous);
}

/** Seals an end of the log: proves that this row was the last one written or dropped. */
export function sealEnd(key: string, name: 'start' | 'head', seq: number, hash: string): ChainEnd {
  return { seq, hash, mac: keyedDigest(key, name, seq, hash) };
}

/** Returns whether an end was sealed with the key. */
export function isSealedEnd(key: string, name: 'start' | 'head', end: ChainEnd): boolean {
  return equalSecrets(end.mac, sealEnd(key, name, end.seq, end.hash).mac);
}

/**
 * Verifies a log row by row, oldest first.
 * @param key of the audit log
 * @param start the end before the first row; undefined if nothing was ever dropped
 * @param known a head recorded elsewhere, which the log must contain
 * @returns `add` takes the rows in order, `finish` the head, and returns every fault
 */
export function checkChain(
  key: string,
  start: ChainEnd | undefined,
  known?: { seq: number; hash: string },
): { add: (row: ChainLink) => void; finish: (head: ChainEnd | undefined) => ChainFault[] } {
  const faults: ChainFault[] = [];
  let last = start ?? { seq: 0, hash: '' };
  if (start && !isSealedEnd(key, 'start', start)) faults.push({ seq: start.seq, fault: 'start_forged' });
  let isKnownMet = known === undefined || known.seq <= last.seq;

  return {
    add(row) {
      if (row.seq !== last.seq + 1 || row.previous !== last.hash)
        faults.push({ seq: last.seq + 1, fault: 'missing' });
      if (row.hash !== hashRow(key, row)) faults.push({ seq: row.seq, fault: 'changed' });
      if (row.event === tamperingEvent) faults.push({ seq: row.seq, fault: 'tampering_noticed' });
      if (known && row.seq === known.seq) isKnownMet = row.hash === known.hash;
      last = row;
    },
    finish(head) {
      if (head && !isSealedEnd(key, 'head', head)) faults.push({ seq: head.seq, fault: 'head_forged' });
      const end = head?.seq ?? 0;
      if (end > last.seq) faults.push({ seq: last.seq + 1, fault: 'cut_off' });
      else if (end < last.seq && last.seq !== start?.seq) faults.push({ seq: end + 1, fault: 'added' });
      else if (head && head.hash !== last.hash) faults.push({ seq: last.seq, fault: 'changed' });
      if (known && known.seq > last.seq) faults.push({ seq: last.seq, fault: 'ends_before_head' });
      else if (known && !isKnownMet) faults.push({ seq: known.seq, fault: 'other_head' });
      return faults;
    },
  };
}
