import type { Command } from 'commander';
import { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { shellWord } from '../../../client/quote.ts';
import { loadSettings } from '../../../config/load.ts';
import { createLocalGatehouse } from '../../../index.ts';
import { pathOfRoute } from '../../../settings/routes.ts';
import { normalizeEmail } from '../../../storage/accounts.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { printableLine, programName } from '../../output.ts';
import { hasDatabase, type InstallationOptions, openInstallation } from '../operator/installation.ts';

interface StdioOptions extends InstallationOptions {
  account?: string;
}

/** Maximum time that the process stays alive after the host is gone, in milliseconds (T-150). */
const leftOverMs = 500;

/** Returns the command that connects a host to the first route of a running server. */
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
      `${programName} stdio cannot serve routes (${routes.join(', ')}).`,
      exitCodes.usage,
      `Connect to the server that serves them: ${connectCommand(settings)}`,
    );
  if (!hasDatabase(settings))
    throw new CliError(
      `There is no Gatehouse database in ${settings.data}.`,
      exitCodes.cannotServe,
      'Name the folder with --data or --config: a host starts this command in a folder of its own.',
    );
  const folder = await openInstallation(settings);
  try {
    const accounts = await createAdministration(folder).accounts.list();
    const { id: accountId, email: accountEmail } = chooseLocalAccount(
      accounts,
      options.account ?? env.GATEHOUSE_ACCOUNT,
    );
    const { storage } = folder;
    const serving = createLocalGatehouse({ ...settings, storage, accountId, accountEmail, stdin, stdout });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void serving.close());
    await serving.ended;
  } finally {
    await folder.storage.close();
    stdin.destroy();
    setTimeout(() => process.exit(), leftOverMs).unref();
  }
}

/** Registers `gatehouse stdio`. */
export function registerStdio(program: Command): void {
  program
    .command('stdio')
    .description('serve an MCP host on this machine over standard input and output, for one account')
    .option('--account <email>', 'account the host acts for (default: GATEHOUSE_ACCOUNT, or the only one)')
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .addHelpText(
      'after',
      `\nExample:\n  ${programName} stdio --config /etc/gatehouse.json --account ada@example.com`,
    )
    .action(serve);
}

/** Maximum number of accounts in a hint. */
const maxNamed = 10;

/**
 * Chooses the account that a local host acts for.
 * @param accounts all there are
 * @param named e-mail address or id of one; without it there must be one account only
 * @throws CliError if no account can be chosen; its hint says what to do
 */
export function chooseLocalAccount<Account extends { id: string; email: string }>(
  accounts: readonly Account[],
  named: string | undefined,
): Account {
  const [only, ...others] = accounts;
  if (!only)
    throw new CliError(
      'There is no account to act for.',
      exitCodes.cannotServe,
      `Add one: ${programName} account add <email>`,
    );
  if (named !== undefined && named !== '') {
    const email = normalizeEmail(named);
    const found = accounts.find((account) => account.email === email || account.id === named);
    if (found) return found;
    throw new CliError(`There is no account ${printableLine(email).slice(0, 100)}.`, exitCodes.usage);
  }
  if (others.length === 0) return only;
  const emails = accounts.slice(0, maxNamed).map(({ email }) => printableLine(email));
  throw new CliError(
    `There are ${accounts.length} accounts. Say which one to act for.`,
    exitCodes.usage,
    `Name one with --account or GATEHOUSE_ACCOUNT: ${emails.join(', ')}${accounts.length > maxNamed ? ', …' : ''}`,
  );
}
