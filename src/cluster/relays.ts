import { randomUUID } from 'node:crypto';
import { endedWithin } from '../collections/closing.ts';
import type { CircuitRelay, CircuitState } from '../gateway/index.ts';
import type { Change, ChangeRelay } from '../mcp/protocol.ts';
import type { Logger } from '../observability/logger.ts';
import type { NodeBus } from './bus.ts';
import type { ClusterNode } from './node.ts';

/**
 * Time by which a change that this node heard by itself may lie before the same change at another node, in milliseconds:
 * what tells both nodes does not do so at the same instant.
 */
const sameMs = 50;

/** Time for which changes that were heard here are remembered, in milliseconds. */
const rememberedMs = 10_000;

/** Maximum number of remembered changes. */
const maxRemembered = 1_000;

/**
 * Creates the relay of the changes of a route.
 * @param route its key
 * @param part the part of Gatehouse that tells and hears them: the same part of another node does
 */
export function relayChanges(bus: NodeBus, route: string, part: string): ChangeRelay {
  const kind = `change/${part}`;
  /** Times at which changes were heard here, the oldest first. */
  const heardHere = new Map<string, number>();
  const keyOf = ({ method, params, account }: Change): string =>
    JSON.stringify([method, params?.uri, account]);

  return {
    tell(change) {
      const key = keyOf(change);
      heardHere.delete(key);
      heardHere.set(key, performance.now());
      for (const [oldest, at] of heardHere) {
        if (heardHere.size <= maxRemembered && performance.now() - at < rememberedMs) break;
        heardHere.delete(oldest);
      }
      bus.post(kind, route, change);
    },
    listen(hear, hearAll) {
      const stop = bus.on(kind, route, (data, ageMs) => {
        const change = data as Change;
        if (typeof change?.method !== 'string') return;
        const atMs = heardHere.get(keyOf(change)) ?? Number.NEGATIVE_INFINITY;
        if (atMs < performance.now() - ageMs - sameMs) hear(change);
      });
      const stopGaps = bus.onGap(hearAll);
      return () => {
        stop();
        stopGaps();
      };
    },
  };
}

/**
 * Creates the relay of the circuit breaker of a backend.
 * @param backend a name that is unique in the installation
 */
export function relayCircuits(bus: NodeBus, backend: string): CircuitRelay {
  return {
    tell: (state) => bus.post('circuit', backend, state),
    listen: (hear) =>
      bus.on('circuit', backend, (data, ageMs) => {
        const { account, openMs } = data as CircuitState;
        if (typeof openMs !== 'number') return;
        const leftMs = openMs - ageMs;
        if (openMs === 0 || leftMs > 0)
          hear({ ...(account !== undefined && { account }), openMs: Math.max(0, leftMs) });
      }),
  };
}

/** The reload of another node. */
export interface OtherReload {
  id: string;
  /** `host:port` for other nodes. */
  address: string;
  outcome: 'reloaded' | 'refused' | 'no answer';
}

/** Carries reloads to other nodes and back. */
export interface ReloadRelay {
  /**
   * Makes the other nodes read their config files again.
   * @returns the outcomes of those that are alive
   * @throws StorageUnavailable if the database does not list the nodes
   */
  reloadOthers(): Promise<OtherReload[]>;
  /**
   * Calls back if another node was told to reload.
   * @param reload returns whether the config file could be used
   * @returns ends it
   */
  onReload(reload: () => boolean): () => void;
}

/** Maximum wait for the outcomes of other nodes, in milliseconds. */
const reloadPatienceMs = 5_000;

/** Carries reloads to other nodes, and their outcomes back. */
export function relayReloads(
  bus: NodeBus,
  node: Pick<ClusterNode, 'id' | 'listOthers'>,
  logger: Pick<Logger, 'warn'>,
): ReloadRelay {
  return {
    async reloadOthers() {
      // This node has reloaded already.
      const others = await node.listOthers().catch((error: unknown) => {
        logger.warn({ err: error }, 'other nodes could not be told to reload');
        throw error;
      });
      if (others.length === 0) return [];
      const asked = randomUUID();
      const outcomes = new Map<string, 'reloaded' | 'refused'>();
      const { promise: allAnswered, resolve } = Promise.withResolvers<void>();
      const stop = bus.on('reloaded', asked, (data) => {
        const { id, isRefused } = data as { id: string; isRefused: boolean };
        outcomes.set(id, isRefused ? 'refused' : 'reloaded');
        if (others.every((other) => outcomes.has(other.id))) resolve();
      });
      bus.post('reload', '', { asked });
      await endedWithin(reloadPatienceMs, allAnswered);
      stop();
      const isSilent = others.some(({ id }) => !outcomes.has(id));
      // A node that has ended meanwhile reads its config file at its next start.
      const alive = isSilent ? await node.listOthers().catch(() => others) : others;
      return others
        .filter(({ id }) => outcomes.has(id) || alive.some((other) => other.id === id))
        .map(({ id, address }) => ({ id, address, outcome: outcomes.get(id) ?? 'no answer' }));
    },
    onReload: (reload) =>
      bus.on('reload', '', (data) => {
        const { asked } = data as { asked: string };
        bus.post('reloaded', String(asked), { id: node.id, isRefused: !reload() });
      }),
  };
}
