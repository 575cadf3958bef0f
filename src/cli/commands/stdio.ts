import type { Command } from 'commander';
import { createAdministration } from '../../authorization-server/administration/administration.ts';
import { loadSettings } from '../../config/load.ts';
import { createLocalGatehouse } from '../../index.ts';
import { pathOfRoute } from '../../settings/routes.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { chooseLocalAccount } from '../local-account.ts';
import { hasDatabase, type InstallationOptions, openInstallation } from '../open-administration.ts';
import { programName } from '../program-name.ts';
import { shellWord } from '../shell-word.ts';

interface StdioOptions extends InstallationOptions {
  account?: string;
}

/** How long what is left over may keep the process alive after the host is gone, in milliseconds (T-150). */
const leftOverMs = 500;

/** The command that bridges a host to the first of the routes, where a server serves them. */
function connectCommand({ publicUrl, listen, routes }: ReturnType<typeof loadSettings>): string {
  const [name = '', route = {}] = Object.entries(routes)[0] ?? [];
  const url = `${publicUrl ?? `http://localhost:${listen.port}`}${pathOfRoute(name, route)}/mcp`;
  return `${programName} connect ${shellWord(url)}`;
}

async function serve(options: StdioOptions): Promise<void> {
  const { stdin, stdout, env } = process;
  const settings = loadSettings(options.config, { data: options.data });
  const routes = Object.keys(settings.routes);
  if (routes.length > 0)
    throw new CliError(
      `${programName} stdio serves no routes (${routes.join(', ')}), only a server with none.`,
      exitCodes.usage,
      `They are reached through the server that serves them: ${connectCommand(settings)}`,
    );
  if (!hasDatabase(settings.data))
    throw new CliError(
      `There is no Gatehouse database in ${settings.data}.`,
      exitCodes.cannotServe,
      'Name the folder with --data or --config: a host starts this command in a folder of its own.',
    );
  const folder = await openInstallation(settings.data);
  try {
    const accounts = await createAdministration(folder).accounts.list();
    const { id: accountId } = chooseLocalAccount(accounts, options.account ?? env.GATEHOUSE_ACCOUNT);
    const { storage } = folder;
    const serving = createLocalGatehouse({ ...settings, storage, accountId, stdin, stdout });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void serving.close());
    await serving.ended;
  } finally {
    await folder.storage.close();
    stdin.destroy();
    setTimeout(() => process.exit(), leftOverMs).unref();
  }
}

/**
 * Registers `gatehouse stdio`.
 * @param program the command line
 */
export function registerStdio(program: Command): void {
  program
    .command('stdio')
    .description('serve one account on standard input and output, to an MCP host on this machine')
    .option('--account <email>', 'account the host acts for (default: GATEHOUSE_ACCOUNT, or the only one)')
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .addHelpText(
      'after',
      `\nExample:\n  ${programName} stdio --config /etc/gatehouse.json --account ada@example.com`,
    )
    .action(serve);
}
