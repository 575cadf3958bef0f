import { keepNewest } from '../../collections/keep-newest.ts';
import type { ArtifactRow, Change } from '../artifacts.ts';

/** Artifacts that were written a moment ago, as they are in the database. */
export interface NewArtifacts {
  /** Gives one that nobody used up, removed or changed; undefined where that is not sure, or it was not written here. */
  find(kind: string, id: string): ArtifactRow | undefined;
  /**
   * To be called before a commit of changes.
   * @returns is to be told whether they are durable, and then keeps the artifacts among them that were not forgotten since
   */
  expect(changes: readonly Change[]): (areDurable: boolean) => void;
  /** Forgets one that is about to be used up. */
  forget(kind: string, id: string): void;
}

/** What is presented soon after it was issued, and once. */
const kinds: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken']);

/** How many are kept, about 1 KB each, and the length above which one is not. */
const bounds = { rows: 2_000, bytes: 4_096 } as const;

interface Kept {
  row: ArtifactRow;
  /** The mark of its kind from before it was written. */
  mark: number;
}

/**
 * Creates the memory of new artifacts, so that to redeem a code or refresh token that was just issued reads nothing. It may
 * say of one that it is unused although another process used it up this very moment: whoever uses it up finds out, as of
 * two who read it in the database at once.
 * @param removalMark gives a mark for a kind that stays the same as long as no artifact of it was removed, or changed otherwise
 *   than by its use in this process
 */
export function createNewArtifacts(removalMark: (kind: string) => number): NewArtifacts {
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
        // Where it was there before, to write it again changes the mark: what is kept is new, of revision 0.
        rows.push([name, { row: { id, payload, revision: 0, expiresAt }, mark: removalMark(kind) }]);
      }
      return (areDurable) => {
        for (const [name, row] of rows)
          if (expected.delete(name) && areDurable) keepNewest(kept, name, row, bounds.rows);
      };
    },
    forget(kind, id) {
      const name = nameOf(kind, id);
      expected.delete(name);
      kept.delete(name);
    },
  };
}
