import {
  type AuditTrail,
  createSealAnew,
  keyTimes,
  type Lifetimes,
  startKeyCare,
} from '../authorization-server/index.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import { day } from '../settings/limits.ts';
import type { Storage } from '../storage/storage.ts';

/** Pause between two removals of expired rows, in milliseconds. */
const sweepIntervalMs = 60_000;

/** Parts of {@link startUpkeep}. */
export interface UpkeepParts extends KeyRotationParts {
  settings: KeyRotationParts['settings'] & SweeperOptions['settings'];
  storage: KeyRotationParts['storage'] & SweeperOptions['storage'];
}

/** Starts the work in the background: the removal of expired rows, and the rotation of keys. @returns stops it */
export function startUpkeep(parts: UpkeepParts): () => Promise<void> {
  const stopSweeping = startSweeper(parts);
  const stopKeyRotation = startKeyRotation(parts);
  return async () => {
    stopSweeping();
    await stopKeyRotation();
  };
}

/** Options of {@link startSweeper}. */
export interface SweeperOptions {
  storage: Pick<Storage, 'sweepExpired'> & {
    audit: Pick<Storage['audit'], 'prune'>;
    calls: Pick<Storage['calls'], 'prune'>;
  };
  settings: Pick<Settings, 'audit' | 'calls'>;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Removes expired rows each minute. Does not keep the process alive.
 * @returns stops it
 */
export function startSweeper({ storage, settings, logger, now }: SweeperOptions): () => void {
  const { audit, calls } = settings;
  const sweep = async (): Promise<void> => {
    await storage.sweepExpired(now());
    await storage.audit.prune({ before: now() - audit.keepDays * day, maxRows: audit.maxEvents });
  };
  const sweepCalls = async (): Promise<void> => {
    if (calls.store === 'off') return;
    const before = (days: number): number => (now() - days * day) * 1000;
    await storage.calls.prune({
      nowMs: now() * 1000,
      before: before(calls.keepDays),
      maxRows: calls.maxCalls,
      hoursBefore: before(calls.keepHoursDays),
    });
  };
  let isStopped = false;
  const warn = (error: unknown, sentence: string): void => {
    // The storage may have been closed in the middle.
    if (!isStopped) logger.warn({ err: error }, sentence);
  };
  const timer = setInterval(() => {
    sweep().catch((error) => warn(error, 'expired rows could not be removed'));
    sweepCalls().catch((error) => warn(error, 'expired calls could not be removed'));
  }, sweepIntervalMs);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** Parts of {@link startKeyRotation}. */
export interface KeyRotationParts {
  /** Undefined if the keys cannot change. */
  keyRing: KeyRing | undefined;
  settings: Pick<Settings, 'rotation' | 'resources'>;
  lifetimes: Lifetimes;
  storage: Pick<Storage, 'sealedRows'>;
  box: SealedBox;
  auditTrail: AuditTrail;
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** Rotates the keys as the settings say, and seals stored values with the new key. @returns stops it */
export function startKeyRotation(parts: KeyRotationParts): () => Promise<void> {
  const { keyRing, settings, lifetimes, storage, box, auditTrail, logger, now } = parts;
  if (!keyRing) return async () => undefined;
  const care = startKeyCare({
    ...keyTimes(settings.rotation, lifetimes, settings.resources),
    ring: keyRing,
    isSealedAnew: createSealAnew({ rows: storage.sealedRows, box, logger }),
    record: (event, details) =>
      auditTrail.note(event, details, () => logger.info({ audit: event, ...details })),
    logger,
    now,
  });
  return () => care.close();
}
