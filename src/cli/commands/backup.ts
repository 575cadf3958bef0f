import { join } from 'node:path';
import type { Command } from 'commander';
import { backUpDataFolder } from '../../storage/sqlite/index.ts';
import { findDataFolder, type InstallationOptions } from '../open-administration.ts';
import { type CommandIo, formatJson, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { shellWord } from '../shell-word.ts';

interface BackupOptions extends InstallationOptions {
  json?: boolean;
  /** False where `--no-keys` was given. */
  keys: boolean;
}

/** Registers `gatehouse backup`. @param io its surroundings; those of the process by default */
export function registerBackup(program: Command, io: CommandIo = processIo()): void {
  program
    .command('backup <folder>')
    .description('copy the data of your server, which may be running, into a new folder')
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--no-keys', 'leave the key file out: the backup is useless without it, to you and to thieves')
    .option('--json', 'print JSON')
    .action(async (target: string, options: BackupOptions) => {
      const data = await findDataFolder(options);
      const backup = backUpDataFolder(data, target, options.keys);
      const sentences = [
        `Wrote ${join(backup.folder, 'gatehouse.db')}, ${backup.bytes} bytes, checked.`,
        backup.withKeys
          ? 'The key file is in it: whoever has this folder has your installation. Keep it encrypted.'
          : 'The key file is not in it. Keep a copy of gatehouse.keys.json elsewhere: without it nothing can be restored.',
        `To put it back: ${programName} restore ${shellWord(backup.folder)} --data ${shellWord(data)}`,
      ];
      io.stdout.write(options.json ? formatJson(backup) : `${sentences.join('\n')}\n`);
    });
}
