import { hashSecret, keyedDigest } from '../crypto/secret.ts';
import type { TaskOwners } from '../gateway/index.ts';
import { type AuthInfo, principalKey } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';
import type { Storage } from '../storage/storage.ts';

/** Options of {@link createBackendObjects}. */
export interface BackendObjectsOptions {
  storage: Pick<Storage, 'backendObjects'>;
  /** Key of the digests: rows do not tell the ids that backends gave. */
  key: string;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
  /** Pause between two looks for ended grants, in milliseconds; 300 by default. */
  intervalMs?: number;
}

/** Owners of the objects that all backends keep by their callers. */
export interface BackendObjects {
  /** Returns the owners of the tasks of a route. */
  tasksOf(route: string): TaskOwners;
  close(): void;
}

/** Longest that an owner is stored, in seconds, whatever the backend says: a week. */
const longestSeconds = 604_800;
/** A backend may count the time to live from later than the gateway does. */
const graceSeconds = 60;
const maxPerPrincipal = 1000;
/** Most objects of which this process cancels the work if their grants end. */
const maxWatched = 10_000;
const batchSize = 500;

interface Watched {
  expiresAt: number;
  ended: () => void;
}

/**
 * Creates the owners of backends' objects, kept in the storage. While this process handed out objects that have not expired,
 * it looks for ended grants, in whichever process they ended (FA-03, T-203).
 */
export function createBackendObjects(options: BackendObjectsOptions): BackendObjects {
  const { storage, key, logger, now, intervalMs = 300 } = options;
  const { backendObjects: store } = storage;
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  let seen: number | undefined;
  let isClosed = false;

  const look = async (): Promise<void> => {
    const at = now();
    for (const [id, { expiresAt }] of watched) if (expiresAt <= at) watched.delete(id);
    const mark = await store.removalMark();
    if (mark === seen) return;
    const keys = [...watched.keys()];
    for (let from = 0; from < keys.length; from += batchSize) {
      const batch = keys.slice(from, from + batchSize);
      const present = new Set(await store.filterPresent(batch));
      for (const id of batch) {
        const gone = present.has(id) ? undefined : watched.get(id);
        if (!gone) continue;
        watched.delete(id);
        gone.ended();
      }
    }
    seen = mark;
  };

  const lookLater = (): void => {
    if (timer !== undefined || isLooking || isClosed || watched.size === 0) return;
    timer = setTimeout(async () => {
      timer = undefined;
      isLooking = true;
      await look().catch((error: unknown) =>
        logger.warn({ err: error }, 'ended grants could not be looked for'),
      );
      isLooking = false;
      lookLater();
    }, intervalMs);
    timer.unref();
  };

  return {
    tasksOf(route) {
      const keyOf = (taskId: string): string => keyedDigest(key, 'backend object', route, 'task', taskId);
      return {
        async add(taskId, caller, ttlMs, ended) {
          const createdAt = now();
          const lives = ttlMs === undefined ? longestSeconds : Math.ceil(ttlMs / 1000) + graceSeconds;
          const object = {
            key: keyOf(taskId),
            route,
            principal: principalKey(caller),
            clientId: caller.clientId,
            grantId: grantNameOf(caller),
            createdAt,
            expiresAt: createdAt + Math.min(lives, longestSeconds),
          };
          const outcome = await store.add(object, maxPerPrincipal);
          if (outcome === 'added' && watched.size < maxWatched) {
            watched.set(object.key, { expiresAt: object.expiresAt, ended });
            // The grant may have ended since the object was stored.
            seen = undefined;
            lookLater();
          }
          return outcome;
        },
        async filterOwned(taskIds, caller) {
          const byKey = new Map(taskIds.map((taskId) => [keyOf(taskId), taskId]));
          const owned = await store.filterOwned([...byKey.keys()], principalKey(caller), now());
          return new Set(owned.flatMap((one) => byKey.get(one) ?? []));
        },
      };
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      watched.clear();
    },
  };
}

/** The name under which a grant is stored. */
function grantNameOf({ grantId }: AuthInfo): string | undefined {
  return grantId === undefined ? undefined : hashSecret('Grant', grantId);
}
