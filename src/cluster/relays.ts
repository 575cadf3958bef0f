import type { CircuitRelay, CircuitState } from '../gateway/index.ts';
import type { Change, ChangeRelay } from '../mcp/protocol.ts';
import type { NodeBus } from './bus.ts';

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
