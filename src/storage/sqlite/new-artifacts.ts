import type { ArtifactRow, Change, PutArtifact } from '../artifacts.ts';

/** Artifacts that were written a moment ago, as they are in the database. */
export interface NewArtifacts {
  /** Gives one that nobody used up, removed or changed; undefined where that is not sure, or it was not written here. */
  find(kind: string, id: string): ArtifactRow | undefined;
  /**
   * To be called before a commit of changes.
   * @returns keeps the artifacts among them; to be called as soon as the commit is durable, in the same turn
   */
  expect(changes: readonly Change[]): () => void;
  /** Forgets one: it is about to be used up, or turned out to be another by now. */
  forget(kind: string, id: string): void;
}

/** What is presented soon after it was issued, and once. */
const kinds: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken']);

/** How many of a kind are kept, about 1 KB each, and the length above which one is not. */
const bounds = { rows: 1_000, bytes: 4_096 } as const;

interface Kept {
  /** What was true of the kind when its rows were kept. */
  mark: string;
  rows: Map<string, ArtifactRow>;
}

/**
 * Creates the memory of new artifacts, so that to redeem a code or refresh token that was just issued reads nothing. It may
 * say of one that it is unused although another process used it up this very moment: whoever uses it up finds out, as of
 * two who read it in the database at once.
 * @param removalMark gives a mark for a kind that stays the same as long as no artifact of it was removed or changed otherwise
 *   than by its use in this process
 */
export function createNewArtifacts(removalMark: (kind: string) => string): NewArtifacts {
  const kept = new Map<string, Kept>();

  /** The rows of a kind that are still as they were kept. */
  function rowsOf(kind: string, mark: string): Map<string, ArtifactRow> {
    const known = kept.get(kind);
    if (known?.mark === mark) return known.rows;
    const rows = new Map<string, ArtifactRow>();
    kept.set(kind, { mark, rows });
    return rows;
  }

  function keep({ kind, id, payload, expiresAt }: PutArtifact, mark: string): void {
    const rows = rowsOf(kind, mark);
    const [oldest] = rows.size >= bounds.rows ? rows.keys() : [];
    if (oldest !== undefined) rows.delete(oldest);
    rows.set(id, { id, payload, revision: 0, expiresAt });
  }

  return {
    find: (kind, id) => (kinds.has(kind) ? rowsOf(kind, removalMark(kind)).get(id) : undefined),
    expect(changes) {
      const expected = changes.flatMap((change) =>
        change.type === 'put' && kinds.has(change.kind) && change.payload.length <= bounds.bytes
          ? [{ put: change, mark: removalMark(change.kind) }]
          : [],
      );
      return () => {
        // Where the mark is another, one of them may have been there before, or be gone by now.
        for (const { put, mark } of expected) if (removalMark(put.kind) === mark) keep(put, mark);
      };
    },
    forget: (kind, id) => void kept.get(kind)?.rows.delete(id),
  };
}
