import { describe, expect, it } from 'vitest';
import { storageSettings } from '../../src/settings/storage.ts';

describe('the settings of the database', () => {
  it('are SQLite unless the operator says otherwise', () => {
    expect(storageSettings.parse(undefined)).toEqual({ poolSize: 10, pooled: false });
  });

  it.each([
    'postgres://gatehouse:secret@db.internal:5432/gatehouse?sslmode=verify-full',
    'postgresql:///gatehouse?host=/run/postgresql',
    { env: 'DATABASE_URL' },
    { file: 'database-url' },
  ])('take a URL, or the variable or file that holds it: %j', (postgres) => {
    expect(storageSettings.parse({ postgres }).postgres).toEqual(postgres);
  });

  it.each([
    { postgres: 'mysql://db/gatehouse' },
    { postgres: 'host=db dbname=gatehouse' },
    { postgres: { env: 'not a name' } },
    { masterKey: 'the key itself' },
    { masterKey: { command: [] } },
    { poolSize: 0 },
    { postgress: 'postgres://db/gatehouse' },
  ])('refuse what is no place of a database or key: %j', (value) => {
    expect(storageSettings.safeParse(value).success).toBe(false);
  });
});
