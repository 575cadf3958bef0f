import type { AuditTrail } from '../authorization-server/index.ts';
import { type NodeBus, pinsReplaced } from '../cluster/bus.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import { hashSecret, keyedDigest } from '../crypto/secret.ts';
import type { EnteredValues, Memory, TaskOwners } from '../gateway/index.ts';
import { type AuthInfo, principalKey } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type BackendCredentialStore, credentialContext } from '../storage/backends.ts';
import type { Storage } from '../storage/storage.ts';

/** Options of {@link createBackendObjects}. */
export interface BackendObjectsOptions {
  storage: Pick<Storage, 'backendObjects'>;
  /** Key of the digests, so that rows do not reveal the ids of backends. */
  key: string;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
  /** Pause between two checks for ended grants, in milliseconds; 300 by default. */
  intervalMs?: number;
}

/** Owners of the objects that backends keep for their callers. */
export interface BackendObjects {
  /** Returns the owners of the tasks of a route. */
  tasksOf(route: string): TaskOwners;
  close(): void;
}

/** Maximum time that an owner is stored, in seconds, whatever the backend says: a week. */
const longestSeconds = 604_800;
/** A backend may count the time to live from later than the gateway does. */
const graceSeconds = 60;
const maxPerPrincipal = 1000;
/** Maximum number of objects whose work this process cancels if their grants end. */
const maxWatched = 10_000;
const objectBatchSize = 500;

interface Watched {
  expiresAt: number;
  ended: () => void;
}

/**
 * Creates the owners of backends' objects, kept in the storage. While objects of this process have not expired, it checks
 * for ended grants, whichever process ended them (FA-03, T-203).
 */
export function createBackendObjects(options: BackendObjectsOptions): BackendObjects {
  const { storage, key, logger, now, intervalMs = 300 } = options;
  const { backendObjects: store } = storage;
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;
  let seen: number | undefined;
  let isClosed = false;

  const check = async (): Promise<void> => {
    const at = now();
    for (const [id, { expiresAt }] of watched) if (expiresAt <= at) watched.delete(id);
    const mark = await store.removalMark();
    if (mark === seen) return;
    const keys = [...watched.keys()];
    for (let from = 0; from < keys.length; from += objectBatchSize) {
      const batch = keys.slice(from, from + objectBatchSize);
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

  const checkLater = (): void => {
    if (timer !== undefined || isChecking || isClosed || watched.size === 0) return;
    timer = setTimeout(async () => {
      timer = undefined;
      isChecking = true;
      await check().catch((error: unknown) => logger.warn({ err: error }, 'cannot check for ended grants'));
      isChecking = false;
      checkLater();
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
            grantId: storedGrantId(caller),
            createdAt,
            expiresAt: createdAt + Math.min(lives, longestSeconds),
          };
          const outcome = await store.add(object, maxPerPrincipal);
          if (outcome === 'added' && watched.size < maxWatched) {
            watched.set(object.key, { expiresAt: object.expiresAt, ended });
            // The grant may have ended since the object was stored.
            seen = undefined;
            checkLater();
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

function storedGrantId({ grantId }: AuthInfo): string | undefined {
  return grantId === undefined ? undefined : hashSecret('Grant', grantId);
}

/** Parts of {@link composeDefinitionMemory}. */
export interface DefinitionMemoryParts {
  storage: Pick<Storage, 'definitionPins'>;
  auditTrail: AuditTrail;
  metrics: Pick<Metrics, 'countEvent'>;
  /** Tells of pins that an operator's command replaced; absent if there is one node. */
  bus?: NodeBus | undefined;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
}

const definitionChanged = 'definition.changed';

/** Composes the pins of each route. A changed definition is recorded in the audit log and logged as a warning (T-160, T-210). */
export function composeDefinitionMemory({
  storage,
  auditTrail,
  metrics,
  bus,
  logger,
  now,
}: DefinitionMemoryParts) {
  return (route: string): Memory => ({
    route,
    store: storage.definitionPins,
    noteChanged: (change) =>
      auditTrail.note(definitionChanged, { ...change }, () => {
        metrics.countEvent(definitionChanged);
        logger.warn(
          { audit: definitionChanged, ...change },
          `a backend changed ${changedThing[change.kind]}: gatehouse pins list shows how`,
        );
      }),
    onReplaced(replaced) {
      const stop = bus?.on(pinsReplaced, route, replaced);
      const stopGaps = bus?.onGap(replaced);
      return () => {
        stop?.();
        stopGaps?.();
      };
    },
    now,
  });
}

const changedThing = {
  tool: 'the definition of a tool',
  prompt: 'the definition of a prompt',
  template: 'the definition of a resource template',
  instructions: 'its instructions',
} as const;

/** The credentials that people entered for backends. */
export interface EnteredCredentials extends EnteredValues {
  /** Stops checking for changes. */
  close(): void;
}

/** Parts of {@link composeEnteredCredentials}. */
export interface EnteredCredentialsParts {
  store: Pick<BackendCredentialStore, 'find' | 'lastChange' | 'changesAfter'>;
  box: Pick<SealedBox, 'open'>;
  logger: Pick<Logger, 'warn'>;
  /** Pause between two checks for changes, in milliseconds; 500 by default. */
  intervalMs?: number;
}

/** Number of changes read at once. */
const changeBatchSize = 500;

/**
 * Composes the credentials that people entered for backends. While anybody listens, it checks for changes by any process:
 * the account page of another process, or an operator's command.
 */
export async function composeEnteredCredentials(parts: EnteredCredentialsParts): Promise<EnteredCredentials> {
  const { store, box, logger, intervalMs = 500 } = parts;
  // Read first: listeners are told of every later change.
  let position = await store.lastChange();
  const listeners = new Set<{ route: string; tell: (accountId: string) => void }>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastProblem = '';

  async function check(): Promise<void> {
    for (let read = changeBatchSize; read === changeBatchSize; ) {
      const changes = await store.changesAfter(position, changeBatchSize);
      read = changes.length;
      position = changes.at(-1)?.position ?? position;
      const changed = new Map(
        changes.map(({ accountId, route }) => [`${route} ${accountId}`, { accountId, route }]),
      );
      for (const { accountId, route } of changed.values())
        for (const listener of listeners) if (listener.route === route) listener.tell(accountId);
    }
    lastProblem = '';
  }

  function checkLater(delayMs: number): void {
    if (timer || isClosed || listeners.size === 0) return;
    timer = setTimeout(() => {
      check()
        .catch((error: Error) => {
          if (error.message !== lastProblem)
            logger.warn({ err: error }, 'cannot check for changed credentials of backends');
          lastProblem = error.message;
        })
        .finally(() => {
          timer = undefined;
          checkLater(intervalMs);
        });
    }, delayMs).unref();
  }

  return {
    async read(accountId, route, name) {
      const sealed = await store.find({ accountId, route, name });
      return sealed && box.open(sealed, credentialContext(accountId, route, name));
    },
    onChange(route, tell) {
      const listener = { route, tell };
      listeners.add(listener);
      checkLater(0);
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
