import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../../../package-files.ts';

/** One step from a schema version to the next. */
export interface Migration {
  version: number;
  sql: string;
  /**
   * Oldest schema whose programs can use the database after this step, side by side with newer ones. A step names it in
   * a line of its own, `-- min_reader: 27`; without this line it is the step's own version.
   */
  minReader: number;
}

/** Default folder of migrations. */
export const migrationFolder = packageFile('migrations/postgres/');

function list(folder: URL): { version: number; file: URL }[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_\w+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), file: new URL(name, folder) }));
}

/** Reads the migrations of a folder, in their order. */
export function readMigrations(folder: URL = migrationFolder): Migration[] {
  return list(folder).map(({ version, file }) => {
    const sql = readFileSync(file, 'utf8');
    const named = /^-- min_reader: (\d+)$/m.exec(sql)?.[1];
    return { version, sql, minReader: named === undefined ? version : Number(named) };
  });
}

/** Read once: the migrations do not change while a program runs. */
let known: number | undefined;

/** Returns the newest schema version that this program knows. */
export function programSchema(): number {
  known ??= list(migrationFolder).at(-1)?.version ?? 0;
  return known;
}
