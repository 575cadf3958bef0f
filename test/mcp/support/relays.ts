import type { Change, ChangeRelay } from '../../../src/mcp/protocol.ts';

/** Relays of two nodes, linked without delay, with what the first one told. */
export function linkRelays(): { here: ChangeRelay; there: ChangeRelay; told: Change[]; lose(): void } {
  const told: Change[] = [];
  const makeEnd = () => new Set<{ hear: (change: Change) => void; hearAll: () => void }>();
  const [endsHere, endsThere] = [makeEnd(), makeEnd()];
  const relay = (
    own: typeof endsHere,
    other: typeof endsHere,
    note: (change: Change) => void,
  ): ChangeRelay => ({
    tell(change) {
      note(change);
      for (const { hear } of other) hear(structuredClone(change));
    },
    listen(hear, hearAll) {
      const end = { hear, hearAll };
      own.add(end);
      return () => void own.delete(end);
    },
  });
  return {
    here: relay(endsHere, endsThere, (change) => told.push(change)),
    there: relay(endsThere, endsHere, () => undefined),
    told,
    /** Has the second one find out that changes were lost. */
    lose() {
      for (const { hearAll } of endsThere) hearAll();
    },
  };
}
