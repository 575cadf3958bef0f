import { hash } from 'node:crypto';
import { createSealedBox, type SealedBox } from './sealed-box.ts';
import { equalSecrets, keyedDigest } from './secret.ts';

/** The sealed part of a batch of calls. */
export interface SealedBatch {
  /** Number of the batch, from 1 without gaps. */
  batch: number;
  /** Time of the commit, epoch milliseconds. */
  at: number;
  /** Position of the last call up to and including this batch. */
  lastSeq: number;
  calls: number;
  /** Calls that could not be recorded. */
  lost: number;
  /** Cause of calls that may be missing. */
  gap: string | null;
  /** See {@link digestCalls}. */
  digest: string;
}

/** An end of the chain: a seal, or the newest of those that were dropped. */
export interface ChainedEnd {
  batch: number;
  lastSeq: number;
  /** MAC of the seal. */
  mac: string;
}

/** The end of a chain without batches. */
const emptyEnd: ChainedEnd = { batch: 0, lastSeq: 0, mac: '' };

/** A fault and its batch. */
export interface CallChainFault {
  batch: number;
  fault:
    | 'missing'
    | 'seal_changed'
    | 'calls_changed'
    | 'cut_off'
    | 'start_forged'
    | 'head_forged'
    | 'other_anchor';
}

/**
 * Returns the digest of the calls of a batch (SHA-256).
 * @param rows values of each call, in the order of the columns and of the calls
 */
export function digestCalls(rows: readonly (readonly unknown[])[]): string {
  return hash('sha256', rows.map((row) => `${JSON.stringify(row)}\n`).join(''), 'base64url');
}

/**
 * Returns the MAC of a batch (HMAC-SHA-256), which covers all batches before it.
 * @param key of the audit log
 * @param previous MAC of the batch before; empty for the first one
 */
export function sealCalls(key: string, previous: string, sealed: SealedBatch): string {
  const { batch, at, lastSeq, calls, lost, gap, digest } = sealed;
  return keyedDigest(key, 'calls', batch, at, lastSeq, calls, lost, gap ?? '', digest, previous);
}

/**
 * Returns the seal of a batch that follows another.
 * @param key of the audit log
 * @param last the newest seal; undefined for the first batch
 * @param rows values of each call of the batch; see {@link digestCalls}
 */
export function sealBatch<Of extends Pick<SealedBatch, 'at' | 'lost' | 'gap'>>(
  key: string,
  last: ChainedEnd | undefined,
  rows: readonly (readonly unknown[])[],
  of: Of,
) {
  const { batch, lastSeq, mac } = last ?? emptyEnd;
  const calls = rows.length;
  const sealed = { ...of, batch: batch + 1, lastSeq: lastSeq + calls, calls, digest: digestCalls(rows) };
  return { ...sealed, mac: sealCalls(key, mac, sealed) };
}

/** Returns the proof that an end of the chain is the last one that was written or dropped. */
export function proveCallEnd(key: string, name: 'start' | 'head', end: ChainedEnd): string {
  return keyedDigest(key, `calls ${name}`, end.batch, end.lastSeq, end.mac);
}

/** Returns whether an end of the chain has its proof. */
export function isProvenCallEnd(
  key: string,
  name: 'start' | 'head',
  end: ChainedEnd & { proof: string },
): boolean {
  return equalSecrets(end.proof, proveCallEnd(key, name, end));
}

/** The seal of a batch, with its MAC. */
export type ChainedBatch = SealedBatch & { mac: string };

/**
 * Verifies the chain batch by batch, oldest first.
 * @param key of the audit log
 * @param start the newest dropped batch; undefined if nothing was ever dropped
 * @param anchors MACs by batch that the audit log holds
 * @returns `add` takes the batches in order, each with the digest of its stored calls; `finish` takes the head
 */
export function checkCallChain(
  key: string,
  start: (ChainedEnd & { proof: string }) | undefined,
  anchors: ReadonlyMap<number, string>,
): {
  add: (seal: ChainedBatch, stored: { digest: string; calls: number }) => void;
  finish: (head: (ChainedEnd & { proof: string }) | undefined) => CallChainFault[];
} {
  const faults: CallChainFault[] = [];
  let last: ChainedEnd = start ?? emptyEnd;
  if (start && !isProvenCallEnd(key, 'start', start))
    faults.push({ batch: start.batch, fault: 'start_forged' });
  const checkAnchor = ({ batch, mac }: ChainedEnd): void => {
    const anchor = anchors.get(batch);
    if (anchor !== undefined && anchor !== mac) faults.push({ batch, fault: 'other_anchor' });
  };
  return {
    add(seal, stored) {
      const { batch } = seal;
      if (batch !== last.batch + 1 || seal.lastSeq !== last.lastSeq + seal.calls)
        faults.push({ batch: last.batch + 1, fault: 'missing' });
      if (seal.mac !== sealCalls(key, last.mac, seal)) faults.push({ batch, fault: 'seal_changed' });
      if (stored.digest !== seal.digest || stored.calls !== seal.calls)
        faults.push({ batch, fault: 'calls_changed' });
      checkAnchor(seal);
      last = seal;
    },
    finish(head) {
      if (head && !isProvenCallEnd(key, 'head', head))
        faults.push({ batch: head.batch, fault: 'head_forged' });
      const newest = [...anchors.keys()].reduce((a, b) => Math.max(a, b), head?.batch ?? 0);
      if (newest > last.batch || (last.batch > 0 && !head))
        faults.push({ batch: last.batch + 1, fault: 'cut_off' });
      else if (head && (head.batch !== last.batch || head.mac !== last.mac))
        faults.push({ batch: last.batch, fault: 'head_forged' });
      return faults;
    },
  };
}

/**
 * Creates the box for kept arguments. Its key does not rotate, as rows are never written again.
 * @param key of the audit log
 */
export function createArgumentsBox(key: string): SealedBox {
  return createSealedBox([{ id: 'calls', key: keyedDigest(key, 'sealed call arguments') }]);
}

/** Returns the context under which the arguments of a call are sealed. */
export function contextOfArguments({ at, requestId }: { at: number; requestId: string }): string {
  return JSON.stringify(['call arguments', at, requestId]);
}
