export type { ConnectionOptions } from './connection/database.ts';
export { openPostgresInstallation } from './open-installation.ts';
export {
  openPostgres,
  openPostgresStorage,
  type PostgresInstallation,
  type PostgresOptions,
} from './storage.ts';
