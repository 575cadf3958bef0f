import { z } from 'zod';
import { variableName } from './credentials.ts';

const elsewhere = [
  z.strictObject({ env: variableName.describe('environment variable of this server that holds it') }),
  z.strictObject({
    file: z
      .string()
      .min(1)
      .describe('file that only its owner can read and that holds it, relative to the config file'),
  }),
] as const;

const postgresUrl = z.string().regex(/^postgres(ql)?:\/\/[^\s]+$/, {
  error: 'must be a URL such as postgres://user@host:5432/database?sslmode=verify-full',
});

/** Settings: the database. */
export const storageSettings = z
  .strictObject({
    postgres: z
      .union([postgresUrl, ...elsewhere])
      .optional()
      .describe(
        'URL of a PostgreSQL database (15 or later) that several nodes may share, or the variable or file that holds it; default: SQLite in the data folder',
      ),
    masterKey: z
      .union([
        ...elsewhere,
        z.strictObject({
          command: z
            .array(z.string().min(1))
            .min(1)
            .describe('program and arguments that print it, such as a client of a key management service'),
        }),
      ])
      .optional()
      .describe(
        'source of the key under which the keys of the installation are sealed in PostgreSQL, the same for all nodes; default: gatehouse.master-key in the data folder, created by the first start',
      ),
    poolSize: z.int().min(1).max(200).default(10).describe('maximum number of connections that read'),
    pooled: z
      .boolean()
      .default(false)
      .describe('true if a pooler in transaction mode, such as PgBouncer, stands before PostgreSQL'),
  })
  .prefault({})
  .describe('The database. SQLite serves one machine and needs nothing else.');

/** The database settings after parsing. */
export type StorageSettings = z.output<typeof storageSettings>;
