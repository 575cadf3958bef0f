import { randomUUID } from 'node:crypto';
import type { SessionOwnership } from '../mcp/index.ts';
import type { Logger } from '../observability/logger.ts';
import { leaseSeconds, type NodeRow, type NodeStore } from '../storage/nodes.ts';
import { StorageUnavailable } from '../storage/storage.ts';

/** Pause between the beats of a node, in milliseconds. */
const beatMs = 1_000;

/**
 * Time without a beat after which a node serves no session any more, in milliseconds: less than its lease, so that it has
 * stopped before another one takes over.
 */
const fenceMs = leaseSeconds * 1000 - 1_000;

/** Time for which the owner of a session is remembered, in milliseconds. */
const ownerMs = 1_000;

/** Maximum number of remembered owners. */
const maxOwners = 10_000;

/** This process as one of the nodes of an installation. */
export interface ClusterNode {
  readonly id: string;
  /** The sessions that this node serves. */
  readonly sessions: SessionOwnership;
  /** Returns another node that is alive and serves a session; undefined if none does, or this one. */
  ownerOf(key: string): Promise<NodeRow | undefined>;
  /** Forgets a remembered owner, which could not be reached. */
  forgetOwner(key: string): void;
  /** Returns another node by its id, if it is alive. */
  find(id: string): Promise<NodeRow | undefined>;
  /** Returns whether this node may serve its sessions: its last beat is recent. */
  isCurrent(): boolean;
  /** Releases all sessions and leaves the installation. */
  leave(): Promise<void>;
}

/** Options of {@link joinCluster}. */
export interface ClusterNodeOptions {
  store: NodeStore;
  /** `host:port` at which other nodes reach this one. */
  address: string;
  version: string;
  /** Epoch seconds. */
  now: () => number;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Joins the nodes of an installation. */
export async function joinCluster(options: ClusterNodeOptions): Promise<ClusterNode> {
  const { store, address, version, now, logger } = options;
  const row: NodeRow = { id: randomUUID(), address, version, startedAt: now() };
  const held = new Set<string>();
  const owners = new Map<string, { owner: NodeRow; until: number }>();
  const lost = new Set<() => void>();
  let others: readonly NodeRow[] = [];
  let listedUntil = 0;
  let beatAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let hasLeft = false;

  const isCurrent = (): boolean => performance.now() - beatAt < fenceMs;

  async function beat(): Promise<void> {
    // The lease began no later than this, whenever the answer arrives.
    const begunAt = performance.now();
    await store.beat(row);
    beatAt = begunAt;
  }

  /** Lets go of what others may have taken over. */
  function loseAll(): void {
    if (held.size > 0)
      logger.warn(
        { sessions: held.size },
        'this node was cut off from the database: its MCP sessions end here',
      );
    held.clear();
    for (const callback of lost) callback();
  }

  function beatAgain(): void {
    timer = setTimeout(async () => {
      const wasCurrent = isCurrent();
      if (!wasCurrent) loseAll();
      await beat().catch((error: unknown) => {
        if (wasCurrent) logger.warn({ err: error }, 'this node could not renew its lease');
      });
      if (!hasLeft) beatAgain();
    }, beatMs);
    timer.unref();
  }

  await beat();
  beatAgain();
  logger.info({ node: row.id, address }, 'this node has joined the others');
  return {
    id: row.id,
    isCurrent,
    sessions: {
      processId: row.id,
      async claim(key) {
        if ((await store.claimSession(key, row.id)) === 'taken')
          throw new StorageUnavailable('another node serves this session');
        held.add(key);
      },
      release(key) {
        if (!held.delete(key) || hasLeft) return;
        store
          .releaseSessions([key], row.id)
          .catch((error: unknown) => logger.warn({ err: error }, 'an MCP session could not be released'));
      },
      onLost(callback) {
        lost.add(callback);
        return () => lost.delete(callback);
      },
    },
    async ownerOf(key) {
      if (held.has(key)) return undefined;
      const known = owners.get(key);
      if (known && known.until > performance.now()) return known.owner;
      const owner = await store.ownerOf(key);
      if (!owner || owner.id === row.id) return undefined;
      if (owners.size >= maxOwners) owners.clear();
      owners.set(key, { owner, until: performance.now() + ownerMs });
      return owner;
    },
    forgetOwner: (key) => void owners.delete(key),
    async find(id) {
      if (id === row.id) return undefined;
      if (listedUntil < performance.now()) {
        others = await store.list();
        listedUntil = performance.now() + ownerMs;
      }
      return others.find((other) => other.id === id);
    },
    async leave() {
      hasLeft = true;
      clearTimeout(timer);
      await store.leave(row.id);
    },
  };
}
