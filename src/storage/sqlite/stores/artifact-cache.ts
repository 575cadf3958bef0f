import { setBounded } from '../../../collections/caches.ts';
import type { ArtifactRow, Change } from '../../artifacts.ts';

/** Artifacts that this process wrote a moment ago. */
export interface ArtifactCache {
  /** Returns an unused, unchanged artifact; undefined if it was not written here or that is not certain. */
  find(kind: string, id: string): ArtifactRow | undefined;
  /**
   * Call it before a commit of changes.
   * @returns call it with true once they are durable: it caches the artifacts among them that were not forgotten since
   */
  expect(changes: readonly Change[]): (areDurable: boolean) => void;
  /** Evicts an artifact that is about to be used. */
  forget(kind: string, id: string): void;
}

/** Kinds that are presented once, soon after they were issued. */
const kinds: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken']);

/** Maximum number of cached artifacts, about 1 KB each, and maximum size of one. */
const bounds = { rows: 2_000, bytes: 4_096 } as const;

interface Kept {
  row: ArtifactRow;
  /** The removal mark of its kind from before the write. */
  mark: number;
}

/**
 * Creates the cache of new artifacts: redeeming a code or refresh token that was just issued reads nothing. It may
 * return an artifact as unused although another process used it this very moment; the consuming write detects that, as
 * with two concurrent readers of the database.
 * @param removalMark returns a mark per kind that stays the same while no artifact of it was removed, or changed
 * otherwise than by its use in this process
 */
export function createArtifactCache(removalMark: (kind: string) => number): ArtifactCache {
  const kept = new Map<string, Kept>();
  const expected = new Set<string>();
  const nameOf = (kind: string, id: string): string => `${kind} ${id}`;

  return {
    find(kind, id) {
      const known = kept.get(nameOf(kind, id));
      return known && known.mark === removalMark(kind) ? known.row : undefined;
    },
    expect(changes) {
      const rows: [string, Kept][] = [];
      for (const change of changes) {
        if (change.type !== 'put' || !kinds.has(change.kind) || change.payload.length > bounds.bytes)
          continue;
        const { kind, id, payload, expiresAt } = change;
        const name = nameOf(kind, id);
        expected.add(name);
        // Writing an existing artifact changes the mark: a cached one is new, of revision 0.
        rows.push([name, { row: { id, payload, revision: 0, expiresAt }, mark: removalMark(kind) }]);
      }
      return (areDurable) => {
        for (const [name, row] of rows)
          if (expected.delete(name) && areDurable) setBounded(kept, name, row, bounds.rows);
      };
    },
    forget(kind, id) {
      const name = nameOf(kind, id);
      expected.delete(name);
      kept.delete(name);
    },
  };
}
