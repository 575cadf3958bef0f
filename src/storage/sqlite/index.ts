export { KeyFileFault } from '../../crypto/key-file.ts';
export type { SchemaUpgrade } from '../storage.ts';
export { type Backup, backUpDataFolder } from './back-up.ts';
export { type DataFolder, type DataFolderOptions, openDataFolder } from './data-folder.ts';
export { adviseOnFolder } from './folder-access.ts';
export { type DataFolderState, inspectDataFolder } from './inspect.ts';
export { type RestoreOptions, restoreDataFolder } from './restore.ts';
export { openSqliteStorage } from './storage.ts';
