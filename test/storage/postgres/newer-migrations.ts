import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrationFolder, programSchema } from '../../../src/storage/postgres/connection/schema.ts';
import { testFolder } from '../../client/support/folder.ts';

/** A migration that nodes of the present schema can follow. */
export const compatible = `-- min_reader: ${programSchema()}\nALTER TABLE notes ADD COLUMN colour text;`;

/** Returns the folder of the migrations of a newer program: ours and one more. */
export function newerMigrations(sql: string): URL {
  const folder = join(testFolder(), 'migrations');
  cpSync(migrationFolder, folder, { recursive: true });
  writeFileSync(join(folder, '9001_newer.sql'), sql);
  return pathToFileURL(`${folder}/`);
}
