import { setBounded } from '../../../collections/caches.ts';
import type { ChangeMarks } from './change-marks.ts';

/** Cached rows per table, about 1 KB each. */
const maxKept = 1_000;

/** Tables that nearly every request reads and that seldom change. */
type CachedTable = 'accounts' | 'clients' | 'grants';

/** Wraps a finder of rows with a cache; callers must not modify its rows or payloads. */
export type CacheRows = <Row>(
  table: CachedTable,
  find: (id: string) => Promise<Row | undefined>,
) => (id: string) => Promise<Row | undefined>;

/** Creates the row cache of a node: it is cleared per table if any node has changed or removed a row of it. */
export function createRowCache(marks: ChangeMarks): CacheRows {
  return <Row>(table: CachedTable, find: (id: string) => Promise<Row | undefined>) => {
    const kept = new Map<string, Row>();
    let seen: number | undefined;
    return async (id) => {
      const mark = marks.of(table);
      if (mark !== seen) kept.clear();
      seen = mark;
      const known = kept.get(id);
      if (known) return known;
      const row = await find(id);
      // A row that was read before a change may arrive after its mark.
      if (row !== undefined && marks.of(table) === mark) setBounded(kept, id, row, maxKept);
      return row;
    };
  };
}
