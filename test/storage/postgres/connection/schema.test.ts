import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  migrationFolder,
  programSchema,
  readMigrations,
} from '../../../../src/storage/postgres/connection/schema.ts';

it('The schema of this program is that of its newest migration, on both databases', () => {
  expect(readMigrations().at(-1)?.version).toBe(programSchema());
  const sqlite = readdirSync(new URL('../sqlite/', migrationFolder)).sort().at(-1);
  expect(Number(sqlite?.slice(0, 4))).toBe(programSchema());
});
