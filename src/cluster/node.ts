import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { setBounded } from '../collections/caches.ts';
import type { SessionLease, SessionOwnership } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import { leaseSeconds, type NodeRow, type NodeStore } from '../storage/nodes.ts';
import { AnotherServer, StorageUnavailable } from '../storage/storage.ts';

/** Pause between the beats of a node, in milliseconds. */
const beatMs = 1_000;

/**
 * Time without a beat after which a node serves no session any more, in milliseconds: less than its lease, so that it has
 * stopped before another one takes over.
 */
const fenceMs = leaseSeconds * 1000 - 1_000;

/** Pause between the looks whether the fence has come, in milliseconds. */
const fenceLookMs = 200;

/** Pause of the whole process after which a server asks whether it still has its lease, in milliseconds. */
const doubtMs = 2 * beatMs;

/** Time for which the owner of a session is remembered, in milliseconds. */
const ownerMs = 1_000;

/** Pause between the looks whether the lease of another server has ended or was renewed, in milliseconds. */
const rivalLookMs = 200;

/** Number of beats from one look at the settings of other nodes to the next. */
const beatsPerLook = 5;

/** Attempts to take a session whose owner is gone each time it is asked for. */
const maxClaims = 3;

/** Maximum number of remembered owners, and of sessions that no other node has. */
const maxOwners = 10_000;

/**
 * Maximum number of unknown sessions of a second for which the database is asked on behalf of one asker. The bearer token
 * is not verified yet at that time.
 */
const maxUnknownPerSecond = 20;

/** Maximum number of askers whose unknown sessions are counted. */
const maxAskers = 1_000;

/** This process as one of the nodes of an installation. */
export interface ClusterNode {
  readonly id: string;
  /** The sessions that this node serves. */
  readonly sessions: Omit<SessionOwnership, 'endIdle' | 'onEndIdle'>;
  /**
   * Returns another node that is alive and serves a session; undefined if none does, or this one. Also undefined if the asker
   * has just named too many sessions of nobody: whoever takes such a session finds out that another node has it.
   * @param asker text that is the same for all requests of one sender
   */
  ownerOf(key: string, asker: string): Promise<NodeRow | undefined>;
  /** Forgets a remembered owner, which could not be reached. */
  forgetOwner(key: string): void;
  /** Returns another node by its id, if it is alive. */
  find(id: string): Promise<NodeRow | undefined>;
  /** Returns whether this node may serve its sessions: its last beat is recent. */
  isCurrent(): boolean;
  /** Returns true while a server without a port for others serves, which began while this node was without a lease. */
  isReplaced(): boolean;
  /** Returns the other nodes that are alive. */
  listOthers(): Promise<readonly NodeRow[]>;
  /** Returns true if another node is alive. The database is asked if none was a second ago. */
  hasOthers(): Promise<boolean>;
  /** Calls back after this node was without a lease for a time, in which others took it for dead. */
  onBack(callback: () => void): void;
  /** Shows the other nodes and operators the settings with which this node runs from now on. */
  show(settings: Partial<Pick<NodeRow, 'settingsHash' | 'refusesFile'>>): void;
  /** Releases all sessions and leaves the installation. */
  leave(): Promise<void>;
}

/** Options of {@link joinCluster}. */
export interface ClusterNodeOptions {
  store: NodeStore;
  /** `host:port` at which other nodes reach this one. */
  address: string;
  version: string;
  /** See {@link NodeRow}. */
  settingsHash: string;
  /** Epoch seconds. */
  now: () => number;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Joins the nodes of an installation. */
export async function joinCluster(options: ClusterNodeOptions): Promise<ClusterNode> {
  const { store, address, version, settingsHash, now, logger } = options;
  const row: NodeRow = {
    ...{ id: randomUUID(), address, version, startedAt: now(), settingsHash, refusesFile: false },
  };
  let beatAt = await beginLease(store, row, logger);
  const held = new Set<string>();
  const owners = new Map<string, { owner: NodeRow | undefined; until: number }>();
  /** Sessions that no other node has: in a map of their own, so that made-up ids push out no owner. */
  const ownerless: typeof owners = new Map();
  const unknown = new Map<string, { count: number; until: number }>();
  const lost = new Set<() => void>();
  /** Number of times that all sessions were let go of. */
  let losses = 0;
  const back = new Set<() => void>();
  /** Ids of nodes whose settings were found to differ, with those settings and the own ones. */
  const warnedOf = new Map<string, string>();
  let others: readonly NodeRow[] = [];
  let listing: Promise<readonly NodeRow[]> | undefined;
  let listedUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> | undefined;
  let hasLeft = false;
  let isReplaced = false;

  const isCurrent = (): boolean => !isReplaced && performance.now() - beatAt < fenceMs;

  async function beat(): Promise<void> {
    // The lease began no later than this, whenever the answer arrives.
    const begunAt = performance.now();
    const wasAway = begunAt - beatAt > fenceMs;
    if (wasAway) {
      checkLease();
      // Nobody here has the sessions of its rows any more: others may take them.
      await store.leave(row.id);
    }
    const isRenewed = await store.beat(row);
    // The beat was stored late: the lease had ended unnoticed, by the clock of the database.
    if (!isRenewed && !wasAway) loseAll();
    beatAt = begunAt;
    if (!isRenewed) for (const callback of back) callback();
  }

  async function listOthers(): Promise<readonly NodeRow[]> {
    others = (await store.list()).filter(({ id }) => id !== row.id);
    listedUntil = performance.now() + ownerMs;
    return others;
  }

  /** Returns the other nodes as they were at most a second ago; those who ask at once share a query. */
  function listRecent(): Promise<readonly NodeRow[]> {
    if (listedUntil >= performance.now()) return Promise.resolve(others);
    listing ??= listOthers().finally(() => {
      listing = undefined;
    });
    return listing;
  }

  /** Warns once of each node with other settings. */
  async function compareSettings(): Promise<void> {
    for (const { id, address: at, settingsHash: theirs } of await listOthers()) {
      const seen = `${theirs} ${row.settingsHash}`;
      if (theirs === row.settingsHash) warnedOf.delete(id);
      else if (warnedOf.get(id) !== seen) {
        warnedOf.set(id, seen);
        logger.warn(
          { node: id, address: at },
          'another node runs with other settings: give all nodes the same config file, then run gatehouse reload or start them again; gatehouse nodes compares them',
        );
      }
    }
  }

  /** Lets go of what others may have taken over. */
  function loseAll(): void {
    if (held.size > 0)
      logger.warn(
        { sessions: held.size },
        'this node was cut off from the database: its MCP sessions end here',
      );
    losses++;
    held.clear();
    for (const callback of lost) callback();
  }

  let beats = 0;
  function beatAgain(): void {
    timer = setTimeout(async () => {
      beating = beat().then(endReplacement, (error: unknown) => {
        if (error instanceof AnotherServer) noteReplacement(error);
        else if (isCurrent()) logger.warn({ err: error }, 'this node could not renew its lease');
      });
      await beating;
      if (isCurrent() && beats++ % beatsPerLook === 0) await compareSettings().catch(() => undefined);
      if (!hasLeft) beatAgain();
    }, beatMs);
    timer.unref();
  }

  function noteReplacement(error: AnotherServer): void {
    if (isReplaced) return;
    isReplaced = true;
    checkLease();
    logger.error(
      { err: error },
      'a server without cluster.port has taken over: this node refuses all requests until that server has ended',
    );
  }

  function endReplacement(): void {
    if (isReplaced) logger.info('this node serves again: the server that had taken over has ended');
    isReplaced = false;
  }

  let wasCurrent = true;
  /** Returns whether this node may serve its sessions, and lets go of them if it may not. */
  function checkLease(): boolean {
    const isNow = isCurrent();
    if (wasCurrent && !isNow) loseAll();
    wasCurrent = isNow;
    return isNow;
  }

  // By a timer of its own: a beat may wait for its answer for long.
  const fence = setInterval(checkLease, fenceLookMs);
  fence.unref();

  beatAgain();
  logger.info({ node: row.id, address }, 'this node has joined the others');
  return {
    id: row.id,
    isCurrent,
    isReplaced: () => isReplaced,
    sessions: {
      async claim(key) {
        for (let attempt = 0; attempt < maxClaims; attempt++) {
          const before = losses;
          const outcome = await store.claimSession(key, row.id);
          if (!isCurrent() || losses !== before)
            throw new StorageUnavailable('this node was cut off from the others while it took a session');
          if (outcome === 'claimed') held.add(key);
          if (outcome !== 'taken') return undefined;
          const owner = await store.ownerOf(key);
          if (owner) return owner.id;
        }
        throw new StorageUnavailable('another node serves this session');
      },
      opened: (key) => void held.add(key),
      release(key) {
        if (!held.delete(key) || hasLeft) return;
        store
          .releaseSessions([key], row.id)
          .catch((error: unknown) => logger.warn({ err: error }, 'an MCP session could not be released'));
      },
      // A process that was paused hears the servers of its sessions before its own timer.
      holds: (key) => checkLease() && held.has(key),
      onLost(callback) {
        lost.add(callback);
        return () => lost.delete(callback);
      },
    },
    async ownerOf(key, asker) {
      if (held.has(key)) return undefined;
      const now = performance.now();
      const known = [owners, ownerless].map((all) => all.get(key)).find((each) => each && each.until > now);
      if (known) return known.owner;
      const counted = unknown.get(asker);
      const asked = counted && counted.until > now ? counted : { count: 0, until: now + 1_000 };
      if (asked.count >= maxUnknownPerSecond) return undefined;
      const found = await store.ownerOf(key);
      const owner = found?.id === row.id ? undefined : found;
      owners.delete(key);
      setBounded(owner ? owners : ownerless, key, { owner, until: performance.now() + ownerMs }, maxOwners);
      if (!found) {
        asked.count++;
        setBounded(unknown, asker, asked, maxAskers);
      }
      return owner;
    },
    forgetOwner: (key) => void owners.delete(key),
    async find(id) {
      if (id === row.id) return undefined;
      return (await listRecent()).find((other) => other.id === id);
    },
    listOthers,
    async hasOthers() {
      // One that has just joined may have missed nothing.
      if (others.length > 0 && listedUntil > performance.now()) return true;
      return (await listOthers()).length > 0;
    },
    onBack: (callback) => void back.add(callback),
    show(settings) {
      Object.assign(row, settings);
    },
    async leave() {
      hasLeft = true;
      clearTimeout(timer);
      clearInterval(fence);
      // A beat that is under way would begin a new lease.
      await beating;
      await store.leave(row.id);
    },
  };
}

/** Options of {@link serveAlone}. */
export type LoneServerOptions = Pick<ClusterNodeOptions, 'store' | 'version' | 'now' | 'logger'>;

/** A server without a port for other nodes: the only one of its installation. */
export interface LoneServer extends SessionLease {
  /** Returns true once another server has begun to serve, after this one was without a lease for a time. */
  isReplaced(): boolean;
  /** Returns whether this server may serve at this moment. After a pause of the process, the database is asked first. */
  mayServe(): boolean | Promise<boolean>;
  /** Lets another server serve the installation. */
  leave(): Promise<void>;
}

/** Leases of lone servers by their storage: all gatehouses of this process on one storage share a lease. */
const loneLeases = new WeakMap<NodeStore, { server: Promise<LoneServer>; holders: number }>();

/**
 * Takes the lease of an installation for a server that has no port for others.
 * @throws AnotherServer if another server runs
 */
export async function serveAlone(options: LoneServerOptions): Promise<LoneServer> {
  const { store } = options;
  const lease = loneLeases.get(store) ?? { server: beginAlone(options, forget), holders: 0 };
  loneLeases.set(store, lease);
  lease.holders++;
  let isHeld = true;
  function forget(): void {
    if (loneLeases.get(store) === lease) loneLeases.delete(store);
  }
  try {
    const server = await lease.server;
    return {
      ...server,
      async leave() {
        if (!isHeld) return;
        isHeld = false;
        if (--lease.holders > 0) return;
        forget();
        await server.leave();
      },
    };
  } catch (error) {
    forget();
    throw error;
  }
}

/** @param replacedNow called once another server has begun to serve */
async function beginAlone(
  { store, version, now, logger }: LoneServerOptions,
  replacedNow: () => void,
): Promise<LoneServer> {
  const row: NodeRow = {
    ...{ id: randomUUID(), address: hostname(), version, startedAt: now() },
    ...{ settingsHash: '', refusesFile: false },
  };
  const lost = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> | undefined;
  let isReplaced = false;
  let hasLeft = false;
  let lookedAt = 0;
  let renewedAt = 0;
  /** Time of the end of a pause in which the lease may have ended, until a later beat has found out. */
  let pausedUntil: number | undefined;
  let beatEnded = Promise.withResolvers<void>();

  /** Returns whether the process was paused, and no beat has ended since. */
  function isPaused(): boolean {
    const at = performance.now();
    if (at - lookedAt > doubtMs) pausedUntil = at;
    lookedAt = at;
    return pausedUntil !== undefined;
  }

  function loseAll(): void {
    for (const callback of lost) callback();
  }

  async function beat(): Promise<void> {
    isPaused();
    const begunAt = performance.now();
    try {
      if (!(await store.beat(row))) {
        logger.warn(
          'another server has served meanwhile, and has left: the MCP sessions of this one are restored if they are used',
        );
        loseAll();
      }
      renewedAt = begunAt;
      isPaused();
      if (pausedUntil !== undefined && pausedUntil <= begunAt) pausedUntil = undefined;
    } catch (error) {
      if (!(error instanceof AnotherServer)) return;
      isReplaced = true;
      replacedNow();
      logger.error(
        { err: error },
        'another server has taken over: this one refuses all requests now, stop it',
      );
      loseAll();
    } finally {
      beatEnded.resolve();
      beatEnded = Promise.withResolvers<void>();
    }
  }

  function beatAgain(): void {
    timer = setTimeout(async () => {
      beating = beat();
      await beating;
      if (!hasLeft && !isReplaced) beatAgain();
    }, beatMs);
    timer.unref();
  }

  renewedAt = await beginLease(store, row, logger);
  lookedAt = renewedAt;
  beatAgain();
  const pauseCheck = setInterval(isPaused, fenceLookMs);
  pauseCheck.unref();
  return {
    isReplaced: () => isReplaced,
    mayServe() {
      if (isReplaced || hasLeft) return false;
      if (!isPaused()) return true;
      const afterBeat = (): boolean => !isPaused() && !isReplaced && !hasLeft;
      // The beat that runs may have begun before the pause.
      return beatEnded.promise.then(() => {
        if (afterBeat() || isReplaced || hasLeft) return afterBeat();
        return beatEnded.promise.then(afterBeat);
      });
    },
    isCurrent: () => !isPaused() && !isReplaced && !hasLeft && performance.now() - renewedAt < fenceMs,
    onLost(callback) {
      lost.add(callback);
      return () => lost.delete(callback);
    },
    async leave() {
      hasLeft = true;
      clearTimeout(timer);
      clearInterval(pauseCheck);
      await beating;
      beatEnded.resolve();
      await store.leave(row.id);
    },
  };
}

/**
 * Begins the lease of a server. The lease of one that was killed ends within seconds, and is waited for; a server that runs
 * renews its lease.
 * @returns the time at which the lease began at the latest, by `performance.now()`
 * @throws AnotherServer if another server runs, and not both have a port for each other
 */
async function beginLease(
  store: Pick<NodeStore, 'beat'>,
  row: NodeRow,
  logger: Pick<Logger, 'info'>,
): Promise<number> {
  let waitedFor: string | undefined;
  for (;;) {
    const begunAt = performance.now();
    try {
      await store.beat(row);
      return begunAt;
    } catch (error) {
      if (!(error instanceof AnotherServer) || error.lease !== (waitedFor ?? error.lease)) throw error;
      if (waitedFor === undefined)
        logger.info({ err: error }, 'waiting for the end of the lease of a server that may have been killed');
      waitedFor = error.lease;
      await sleep(rivalLookMs);
    }
  }
}
