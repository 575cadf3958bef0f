export type { ConnectionOptions } from './connection/database.ts';
export {
  openPostgres,
  openPostgresStorage,
  type PostgresInstallation,
  type PostgresOptions,
} from './storage.ts';
