import { join } from 'node:path';
import { Command } from 'commander';
import { registerAccount } from '../../../src/cli/commands/operator/account.ts';
import { registerClient } from '../../../src/cli/commands/operator/client.ts';
import { createAdministration } from '../../../src/index.ts';
import { type DataFolder, openDataFolder } from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { testIo } from './client-commands.ts';

/** Works on the data folder of an installation as its running server would, beside the commands under test. */
export async function withInstallation<T>(
  folder: string,
  work: (
    installation: DataFolder & { administration: ReturnType<typeof createAdministration> },
  ) => Promise<T>,
): Promise<T> {
  const data = await openDataFolder(folder);
  try {
    return await work({ ...data, administration: createAdministration(data) });
  } finally {
    await data.storage.close();
  }
}

/** A data folder with one account in it. */
export async function newInstallation(): Promise<string> {
  const folder = join(testFolder(), 'data');
  await withInstallation(folder, ({ administration }) =>
    administration.accounts.add('ada@example.com', 'correct horse battery staple'),
  );
  return folder;
}

/** Runs an operator's command in this process and gives what it wrote. */
export async function operate(
  args: readonly string[],
  options: { input?: string } = {},
): Promise<{ stdout: string; stderr: string }> {
  const { io, written } = testIo(options);
  const program = new Command().exitOverride();
  registerAccount(program, io);
  registerClient(program, io);
  await program.parseAsync(['node', 'gatehouse', ...args]);
  return written;
}
