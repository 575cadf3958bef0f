export type { ConnectionOptions } from './connection/database.ts';
export { type CopyPlace, openCopySource, openCopyTarget } from './copy-ends.ts';
export { findDatabaseUrl, findMasterKey, openPostgresInstallation } from './open-installation.ts';
export { acceptDatabase, rewrapKeys } from './operations.ts';
export {
  openPostgres,
  openPostgresStorage,
  type PostgresInstallation,
  type PostgresOptions,
} from './storage.ts';
