export type { ConnectionOptions } from './connection/database.ts';
export { type CopyPlace, openCopySource, openCopyTarget } from './copy-ends.ts';
export {
  openPostgres,
  openPostgresStorage,
  type PostgresInstallation,
  type PostgresOptions,
} from './storage.ts';
