import type { KeyRing } from '../../crypto/key-ring.ts';
import { isMisdated, type KeyKind, type KeyStanding, keyKinds } from '../../crypto/key-schedule.ts';
import { SealBroken, type SealedBox } from '../../crypto/sealed-box.ts';
import type { Logger } from '../../observability/logger.ts';
import type { SealedRows } from '../../storage/storage.ts';
import type { Lifetimes } from '../engine/configuration.ts';
import type { ProtectedResource } from '../resources.ts';

/** How long the keys of each kind are used and kept. */
export interface KeyTimes {
  /** After how long in use a key gets a successor, in seconds; 0 for never. */
  rotateAfterSeconds: Readonly<Record<KeyKind, number>>;
  /** How long a replaced key is kept: until whatever it signed or sealed outside of the database has ended, in seconds. */
  keepSeconds: Readonly<Record<KeyKind, number>>;
}

/** What the care of keys works with. */
export interface KeyCareOptions extends KeyTimes {
  ring: KeyRing;
  /** Whether nothing in the database needs this sealing key any more; what still did is sealed anew. */
  isSealedAnew: (keyId: string) => Promise<boolean>;
  /** Takes note of a rotation or a drop. */
  record: (event: 'key.rotated' | 'key.dropped', details: { kind: KeyKind; keyId: string }) => void;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
  /** Pause between two looks at the key file, in milliseconds; a second by default. */
  intervalMs?: number;
}

/** Looks after the keys of a running server. */
export interface KeyCare {
  /** Looks once: takes what changed, rotates and drops what is due. */
  look(): Promise<void>;
  /** Ends it; resolves when nothing of it runs any more. */
  close(): Promise<void>;
}

/** How often the work is done that writes, in seconds; the key file is looked at more often. */
const workIntervalSeconds = 60;

/** How often all rows are looked at for what is sealed under a retiring key, in seconds. */
const sealAnewIntervalSeconds = 3600;

function isDue({ state, activeAt }: KeyStanding, rotateAfterSeconds: number, nowSeconds: number): boolean {
  return state === 'current' && rotateAfterSeconds > 0 && activeAt + rotateAfterSeconds <= nowSeconds;
}

/**
 * Starts the care of the keys: what the operator or another process rotated is taken within a second, keys are rotated
 * when they are old, and dropped when nobody can need them (T-178, T-179). Every process on the data folder may do it.
 */
export function startKeyCare(options: KeyCareOptions): KeyCare {
  const {
    ring,
    rotateAfterSeconds,
    keepSeconds,
    isSealedAnew,
    record,
    logger,
    now,
    intervalMs = 1000,
  } = options;
  const sealedAnew = new Map<string, { at: number; isSpent: boolean }>();
  const misdated = new Set<string>();
  let lastProblem = '';
  let workedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const rotateOld = async (kind: KeyKind): Promise<void> => {
    const keys = ring.list().filter((key) => key.kind === kind);
    for (const { id, activeAt } of keys.filter((key) => isMisdated(key, now()))) {
      if (!misdated.has(id))
        logger.warn(
          { kind, keyId: id, activeAt: new Date(activeAt * 1000).toISOString() },
          'a key is dated further ahead than a key is made: the clock was ahead then, or is behind now; where it is right now, gatehouse keys rotate --clock-is-right passes over that key',
        );
      misdated.add(id);
    }
    // Not before the current key is due: a clock that is behind looks the same, and would have good keys passed over.
    const isWaiting = keys.some((key) => key.state === 'next' && !isMisdated(key, now()));
    if (isWaiting || !keys.some((key) => isDue(key, rotateAfterSeconds[kind], now()))) return;
    const { key, isNew } = await ring.rotate(kind);
    if (isNew) record('key.rotated', { kind, keyId: key.id });
  };

  /** Seals anew as soon as a key retires, and once more before it goes. To look at all rows costs, so it is not done often. */
  const isSpent = async (keyId: string): Promise<boolean> => {
    const lately = sealedAnew.get(keyId);
    if (lately && lately.at + sealAnewIntervalSeconds > now()) return lately.isSpent;
    sealedAnew.set(keyId, { at: now(), isSpent: await isSealedAnew(keyId) });
    return sealedAnew.get(keyId)?.isSpent ?? false;
  };

  const dropUnneeded = async (kind: KeyKind): Promise<void> => {
    for (const { id, retiredAt } of ring
      .list()
      .filter((key) => key.kind === kind && key.state === 'retiring')) {
      const mayGo = kind !== 'sealing' || (await isSpent(id));
      if (!mayGo || retiredAt === undefined || retiredAt + keepSeconds[kind] > now()) continue;
      for (const keyId of await ring.drop(kind, [id])) record('key.dropped', { kind, keyId });
    }
  };

  const look = async (): Promise<void> => {
    try {
      const hasChanged = ring.refresh();
      if (hasChanged || workedAt + workIntervalSeconds <= now()) {
        workedAt = now();
        for (const kind of keyKinds) {
          await rotateOld(kind);
          await dropUnneeded(kind);
        }
      }
      lastProblem = '';
    } catch (error) {
      const problem = (error as Error).message;
      if (problem !== lastProblem)
        logger.warn({ err: error }, 'the keys could not be looked after; those in use stay');
      lastProblem = problem;
    }
  };

  let running = Promise.resolve();
  const lookAgainLater = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      running = look().then(lookAgainLater);
    }, intervalMs);
    timer.unref();
  };
  lookAgainLater();

  return {
    look,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** After how many days in use keys get a successor; 0 for never. */
export interface RotationDays {
  signingDays: number;
  cookieDays: number;
  sealingDays: number;
}

const daySeconds = 86_400;

/** How far clocks may be apart, and how long an answer may be on its way, in seconds. */
const marginSeconds = 300;

/** Longest life of what is sealed and then held by others (states of requests, nonces, client ids), in seconds. */
const sealedOutsideSeconds = 30 * daySeconds;

/**
 * Gives the times of keys. A replaced signing key is published until the last token it signed has ended, a cookie key
 * taken until the last login it vouches for has.
 * @param lifetimes how long what is signed lives
 * @param resources those whose access tokens have a life of their own among them
 */
export function keyTimes(
  days: RotationDays,
  lifetimes: Lifetimes,
  resources: readonly Pick<ProtectedResource, 'accessTokenSeconds'>[],
): KeyTimes {
  const tokenSeconds = resources.map(({ accessTokenSeconds = 0 }) => accessTokenSeconds);
  return {
    rotateAfterSeconds: {
      signing: days.signingDays * daySeconds,
      cookies: days.cookieDays * daySeconds,
      sealing: days.sealingDays * daySeconds,
    },
    keepSeconds: {
      signing: Math.max(lifetimes.accessTokenSeconds, ...tokenSeconds) + marginSeconds,
      cookies: Math.max(lifetimes.sessionSeconds, lifetimes.interactionSeconds) + marginSeconds,
      sealing: sealedOutsideSeconds,
    },
  };
}

/** What is sealed anew, and with what. */
export interface SealAnewOptions {
  rows: SealedRows;
  box: SealedBox;
  logger: Pick<Logger, 'warn'>;
}

/**
 * Creates the change of what the database holds from an old sealing key to the one in use, in the background and in
 * small batches.
 * @returns a function of the id of an old key, that gives whether nothing needs that key any more
 */
export function createSealAnew({ rows, box, logger }: SealAnewOptions): (keyId: string) => Promise<boolean> {
  return async (keyId) => {
    let unreadable = 0;
    await rows.reseal(keyId, (sealed, context) => {
      try {
        return box.seal(box.open(sealed, context), context);
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        unreadable++;
        return undefined;
      }
    });
    if (unreadable > 0)
      logger.warn(
        { keyId, rows: unreadable },
        'what is sealed under an old key cannot be opened, so the key is kept',
      );
    return !(await rows.countByKey()).has(keyId);
  };
}
