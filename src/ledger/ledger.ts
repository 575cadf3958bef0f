import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { contextOfArguments, createArgumentsBox } from '../crypto/call-chain.ts';
import type { KeySet } from '../crypto/key-schedule.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import { keyedDigest } from '../crypto/secret.ts';
import type { CallEnding, CallRecorder, FinishedCall } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallBatch, CallEntry, CallOutcome, CallSeal, CallStore, CallWriter } from '../storage/calls.ts';
import {
  type ArgumentKeeping,
  hashArguments,
  namesOfArguments,
  sealArguments,
  shortText,
} from './arguments.ts';

/** Settings of a route for its calls. */
export interface RouteRecording extends ArgumentKeeping {
  /** True if a response is sent only once its call is durable in the ledger. */
  required: boolean;
}

/** Options of the ledger. */
export interface LedgerOptions {
  store: CallStore;
  keys: Pick<KeySet, 'audit'>;
  /** Outcomes of errors of Gatehouse, by their reason. */
  reasons: ReadonlyMap<string, CallOutcome>;
  /** Writes an event to the audit log. */
  audit: (event: string, details: Readonly<Record<string, string>>) => void;
  logger: Pick<Logger, 'warn' | 'info'>;
  /** Epoch milliseconds. */
  nowMs: () => number;
  /** Longest time from the end of a call to its commit, in milliseconds; 100 by default. */
  batchMs?: number;
  /** Pause between two notes that this process writes, in milliseconds; 10 s by default. Another has ended after three. */
  beatMs?: number;
}

/** The writing side of the call ledger. */
export interface Ledger {
  /**
   * Returns the recorder of a route.
   * @param route path of the route below the public URL; empty for the public URL itself
   * @param credentials upstreams and personal credentials that its backends get, by the key of the backend
   */
  recorderFor(
    route: string,
    recording: RouteRecording,
    credentials: ReadonlyMap<string, string>,
  ): CallRecorder;
  /** Writes what waits, and anchors the chain in the audit log. */
  close(): Promise<void>;
}

/** Calls of one commit; those of other nodes wait for it. */
const maxBatch = 250;

/** Most calls that wait for the ledger; later ones are counted as lost. */
const maxWaiting = 5_000;

/** Pauses before the ledger is tried again, in milliseconds. */
const retryMs = { first: 500, longest: 10_000 } as const;

const anchorIntervalMs = 600_000;

const maxTarget = 128;

/** Maximum length of the chain of actors as JSON, in characters. */
const maxActors = 500;

/** Most notes of writers that are remembered. */
const maxSeenWriters = 1_000;

/** A call that waits for its commit. */
interface Waiting {
  entry: CallEntry;
  /** Called with whether the call is durable; only if its response waits. */
  settle?: (isStored: boolean) => void;
}

/** Creates the writing side of the ledger: calls wait for a common commit, behind their responses. */
export function createLedger(options: LedgerOptions): Ledger {
  const { store, keys, reasons, audit, logger, nowMs, batchMs = 100, beatMs = 10_000 } = options;
  const isGone = createGoneCheck(3 * beatMs);
  const writer = `${machine()}:${process.pid}:${randomBytes(6).toString('base64url')}`;
  const box = createArgumentsBox(keys.audit);
  const hashKey = keyedDigest(keys.audit, 'call arguments');
  let waiting: Waiting[] = [];
  let lost = 0;
  /** The batch that is written. It stays the same after a failure, as it may have been stored. */
  let batch: CallBatch | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let anchored = 0;
  let newest: { batch: number; mac: string } | undefined;

  const follow = async (seal: CallSeal): Promise<void> => {
    newest = seal;
    if (seal.batch !== 1) return;
    audit('calls.begun', {});
    await tryAnchor();
  };
  /** Anchors the chain. What the audit log confirms must survive a power loss, so a durable batch comes first. */
  const anchor = async (): Promise<void> => {
    if (!newest || newest.batch === anchored) return;
    const { batch, mac } = await store.append({ calls: [], lost: 0 }, nowMs(), true);
    newest = { batch, mac };
    anchored = batch;
    if (batch === 1) audit('calls.begun', {});
    audit('calls.sealed', { batch: String(batch), mac });
  };
  // The log says that the ledger cannot be written when calls cannot.
  const tryAnchor = (): Promise<void> => anchor().catch(() => undefined);

  /** Writes the calls that wait, batch by batch, until the ledger fails. */
  const write = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    while (waiting.length > 0 || lost > 0) {
      const taken = waiting.slice(0, batch?.calls.length ?? maxBatch);
      batch ??= { calls: taken.map(({ entry }) => entry), lost };
      try {
        const isDurable = taken.some(({ settle }) => settle);
        await follow(await store.append(batch, nowMs(), isDurable));
        lost -= batch.lost;
        batch = undefined;
      } catch (error) {
        if (failures++ === 0) logger.warn({ err: error }, 'calls cannot be recorded in the ledger');
        for (const each of waiting) {
          each.settle?.(false);
          delete each.settle;
        }
        schedule(Math.min(retryMs.first * 2 ** (failures - 1), retryMs.longest));
        return;
      }
      if (failures > 0) logger.info({ lost }, 'calls are recorded in the ledger again');
      failures = 0;
      waiting = waiting.slice(taken.length);
      for (const { settle } of taken) settle?.(true);
    }
  };

  const flush = (): Promise<void> => {
    writing ??= write().finally(() => {
      writing = undefined;
      if (waiting.length > 0 && failures === 0) schedule(batchMs);
    });
    return writing;
  };

  const schedule = (afterMs: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, afterMs);
  };

  const isFull = (): boolean => waiting.length >= maxWaiting;
  const add = (each: Waiting): void => {
    if (isFull()) {
      if (lost++ === 0) logger.warn('calls come faster than the ledger takes them: some are not recorded');
      each.settle?.(false);
      return;
    }
    waiting.push(each);
    if (failures > 0) each.settle?.(false);
    else if (each.settle || waiting.length === maxBatch) setImmediate(() => void flush());
    else schedule(batchMs);
  };

  /** Renews the note of this process, and records that another one ended without closing its ledger. */
  const beat = async (): Promise<void> => {
    for (const other of await store.beat(writer, nowMs())) {
      const seal = isGone(other) ? await store.recordEnd(other.writer, nowMs()) : undefined;
      if (seal) await follow(seal);
    }
  };
  let beating: Promise<void> | undefined;
  const tryBeat = (): void => {
    // The log has said so already, or the next write says it.
    beating ??= beat()
      .catch(() => undefined)
      .finally(() => {
        beating = undefined;
      });
  };
  tryBeat();
  const timers = [setInterval(tryBeat, beatMs), setInterval(tryAnchor, anchorIntervalMs)];
  for (const each of timers) each.unref();

  return {
    recorderFor(route, recording, credentials) {
      const toEntry = entryWriter({ route: route || '/', recording, credentials, reasons, box, hashKey });
      return {
        isRequired: recording.required,
        isReady: () => !recording.required || (failures === 0 && !isFull()),
        record(call) {
          const entry = toEntry(call);
          if (!recording.required) {
            add({ entry });
            return undefined;
          }
          return new Promise((settle) => add({ entry, settle }));
        },
      };
    },
    async close() {
      for (const each of timers) clearInterval(each);
      await beating;
      await writing;
      await flush();
      clearTimeout(timer);
      await tryAnchor();
      const missing = lost + waiting.length;
      if (missing > 0) audit('calls.lost', { calls: String(missing) });
      if (failures === 0) await store.leave(writer).catch(() => undefined);
    },
  };
}

/** Names this machine and, in a container, its process ids. */
function machine(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`.replaceAll(':', ' ');
  } catch {
    return hostname();
  }
}

/**
 * Creates the check of whether a writer has ended: it was a process of this machine that is no more, or its note has not
 * changed for a while. The time is that of this process, as clocks of machines differ, and an outage stops all notes.
 * @param goneAfterMs that while, in milliseconds
 */
function createGoneCheck(goneAfterMs: number): (other: CallWriter) => boolean {
  const seen = new Map<string, { beatAt: number; sinceMs: number }>();
  return ({ writer, beatAt }) => {
    const [place, pid] = writer.split(':');
    if (place === machine() && !isRunning(Number(pid))) return true;
    const before = seen.get(writer);
    if (before?.beatAt === beatAt) return performance.now() - before.sinceMs > goneAfterMs;
    if (seen.size > maxSeenWriters) seen.clear();
    seen.set(writer, { beatAt, sinceMs: performance.now() });
    return false;
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Parts of {@link entryWriter}. */
interface EntryParts extends Pick<LedgerOptions, 'reasons'> {
  route: string;
  recording: RouteRecording;
  credentials: ReadonlyMap<string, string>;
  box: SealedBox;
  hashKey: string;
}

/** Returns the function that turns a finished call of a route into its row. */
function entryWriter(parts: EntryParts): (call: FinishedCall) => CallEntry {
  const { route, recording, credentials, reasons, box, hashKey } = parts;
  return (call) => {
    const { at, authInfo, requestId, notes, arguments: given } = call;
    const ended = outcomeOf(call.ending, reasons);
    const isPassed = ended.outcome !== 'refused' && !notes.isCached;
    const sealed = given
      ? sealArguments(given, recording, box, () => contextOfArguments({ at, requestId }))
      : null;
    return {
      at,
      account: authInfo.subject,
      client: authInfo.clientId,
      grant: authInfo.grantId ?? null,
      actor: authInfo.actors ? textOfActors(authInfo.actors) : null,
      route,
      backend: notes.backend ?? null,
      credential: (isPassed ? credentials.get(notes.backend ?? '') : undefined) ?? null,
      generation: (isPassed ? onlyValueOf(notes.generations) : undefined) ?? null,
      transport: call.transport,
      revision: call.revision === undefined ? null : shortText(call.revision, 20),
      method: call.method,
      target: call.target === undefined ? null : targetOf(call.method, call.target),
      definition: notes.definition ?? null,
      argumentsHash: given ? hashArguments(hashKey, given) : null,
      argumentNames: given ? namesOfArguments(given) : null,
      arguments: sealed,
      ...ended,
      ms: Math.round(call.ms),
      waitMs: call.waitMs === undefined ? null : Math.round(call.waitMs),
      bytesIn: call.bytesIn,
      bytesOut: call.bytesOut,
      cached: notes.isCached ?? false,
      retried: notes.isRetried ?? false,
      requestId,
      traceId: call.traceId ?? null,
    };
  };
}

/** Returns a chain of actors as JSON, without those at its end that do not fit; a long text of a single one is shortened. */
function textOfActors(actors: readonly string[]): string {
  const shown = actors.map((actor) => shortText(actor, maxActors));
  while (shown.length > 1 && JSON.stringify(shown).length > maxActors) shown.pop();
  const text = JSON.stringify(shown);
  if (text.length <= maxActors) return text;
  // JSON doubles a quote or a backslash, and adds two quotes and two brackets.
  return JSON.stringify(shown.map((actor) => shortText(actor, maxActors / 2 - 2)));
}

/** Returns the only value of a record; undefined if there are several: a row has room for one. */
function onlyValueOf(record: Readonly<Record<string, number>> = {}): number | undefined {
  const [value, ...others] = Object.values(record);
  return others.length === 0 ? value : undefined;
}

/**
 * Returns the outcome of a call, with its code and reason.
 * @param reasons outcomes of errors of Gatehouse, by their reason
 */
export function outcomeOf(
  ending: CallEnding,
  reasons: ReadonlyMap<string, CallOutcome>,
): Pick<CallEntry, 'outcome' | 'code' | 'reason'> {
  switch (ending.kind) {
    case 'result':
      return { outcome: 'ok', code: null, reason: null };
    case 'input_required':
      return { outcome: 'ok', code: null, reason: 'input_required' };
    case 'tool_error':
    case 'cancelled':
      return { outcome: ending.kind, code: null, reason: null };
    case 'refused':
      return { outcome: 'refused', code: ending.code ?? null, reason: ending.reason };
    case 'timed_out':
      return { outcome: 'timed_out', code: ending.error.code, reason: null };
    case 'error': {
      const { error, reason = '' } = ending;
      const outcome = reasons.get(reason);
      return {
        outcome: outcome ?? 'error',
        code: Number.isSafeInteger(error.code) ? error.code : null,
        reason: outcome === undefined ? null : reason,
      };
    }
  }
}

/** Returns the recorded target: a URI without its user, query and fragment, which may hold secrets. */
function targetOf(method: string, target: string): string {
  const isUri = method === 'resources/read' || (method === 'completion/complete' && target.includes(':'));
  const plain = isUri ? withoutSecrets(target) : target;
  return shortText(plain, maxTarget);
}

function withoutSecrets(uri: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:)(.*)$/is.exec(uri) ?? [];
  // Without an authority it may be an address or any text: `mailto:`, `data:`.
  if (scheme !== '' && !rest.startsWith('//')) return scheme;
  return uri.replace(/[?#].*$/s, '').replace(/^([^/]*\/\/)[^/]*@/, '$1');
}
