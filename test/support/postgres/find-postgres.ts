import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the folder of PostgreSQL's programs; undefined if there is none. */
export function findPostgres(): string | undefined {
  const named = process.env.POSTGRES_BIN;
  if (named !== undefined) return named;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(debian, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

/** Returns the path of PgBouncer; undefined if there is none. */
export function findPooler(): string | undefined {
  return [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
    .map((folder) => join(folder, 'pgbouncer'))
    .find((file) => existsSync(file));
}
