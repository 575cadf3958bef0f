export type { ConnectionOptions } from './connection/database.ts';
export { openPostgresStorage } from './storage.ts';
