export { KeyFileFault } from '../../crypto/key-file.ts';
export { type DataFolder, openDataFolder } from './data-folder.ts';
export { openSqliteStorage } from './storage.ts';
