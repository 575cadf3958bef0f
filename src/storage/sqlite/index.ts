export { KeyFileFault } from '../../crypto/key-file.ts';
export type { SchemaUpgrade } from '../storage.ts';
export { openCopySource, openCopyTarget } from './copy-ends.ts';
export { type Backup, backUpDataFolder } from './data-folder/back-up.ts';
export { type DataFolder, type DataFolderOptions, openDataFolder } from './data-folder/data-folder.ts';
export { adviseOnFolder, type DataFolderState, inspectDataFolder } from './data-folder/inspect.ts';
export { type RestoreOptions, restoreDataFolder } from './data-folder/restore.ts';
export { openSqliteStorage } from './storage.ts';
