import { setBounded } from '../../../collections/caches.ts';
import type { ChangeMarks } from './change-marks.ts';

/** Cached rows per table, about 1 KB each. */
const maxKept = 1_000;

/** Tables that nearly every request reads and that seldom change. */
const cachedTables = ['accounts', 'clients', 'grants'] as const;

type CachedTable = (typeof cachedTables)[number];

/** A cached row. Callers must not modify it or its payload. */
interface CachedRow {
  id: string;
}

/** Caches rows at a node, and forgets those of a table if any node has changed or removed one of them. */
export class RowCache {
  readonly #marks: Pick<ChangeMarks, 'of'>;
  readonly #known = new Map<CachedTable, { mark: number; rows: Map<string, CachedRow> }>();

  constructor(marks: Pick<ChangeMarks, 'of'>) {
    this.#marks = marks;
  }

  /** Wraps the finder of a table's rows. */
  wrap<Row extends CachedRow>(
    table: CachedTable,
    find: (id: string) => Promise<Row | undefined>,
  ): (id: string) => Promise<Row | undefined> {
    return async (id) =>
      (this.#rowsOf(table).get(id) as Row | undefined) ??
      this.fill(
        () => find(id),
        (row) => ({ [table]: row }),
      );
  }

  /**
   * Runs a query and caches rows that it reads.
   * @param rowsOf returns a row of each table that was read, as the wrapped finder of the table returns it
   */
  async fill<Found>(
    query: () => Promise<Found>,
    rowsOf: (found: Found) => Partial<Record<CachedTable, CachedRow | undefined>>,
  ): Promise<Found> {
    const before = cachedTables.map((table) => [table, this.#rowsOf(table)] as const);
    const found = await query();
    const read = rowsOf(found);
    for (const [table, rows] of before) {
      const row = read[table];
      // A row that was read before a change may arrive after its mark.
      if (row && this.#rowsOf(table) === rows) setBounded(rows, row.id, row, maxKept);
    }
    return found;
  }

  /** Returns the cached rows of a table: another map after each change of the table. */
  #rowsOf(table: CachedTable): Map<string, CachedRow> {
    const mark = this.#marks.of(table);
    let known = this.#known.get(table);
    if (known?.mark !== mark) {
      known = { mark, rows: new Map() };
      this.#known.set(table, known);
    }
    return known.rows;
  }
}
