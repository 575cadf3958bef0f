import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadSettings } from '../../config/load.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { programName } from '../program-name.ts';
import { parseWhole } from '../whole-number.ts';
import { parsePort, runServer } from './serve.ts';

interface ProtectOptions {
  name?: string;
  port?: number;
  data?: string;
  config?: string;
  publicUrl?: string;
  env?: string[];
  process?: 'session' | 'account' | 'shared';
  maxProcesses?: number;
  json?: boolean;
}

/** The name of the route among those of the config file. */
const routeName = 'protected';

function collectName(name: string, names: readonly string[] = []): string[] {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new InvalidArgumentError(
      'It takes the name of a variable of the environment; its value is read from there.',
    );
  return [...names, name];
}

async function protect(words: readonly string[], options: ProtectOptions): Promise<void> {
  if (process.platform === 'win32')
    throw new CliError(
      'A program cannot be protected on Windows: it has no process groups to end it with.',
      exitCodes.cannotServe,
      'Run it in WSL or in a Linux container.',
    );
  const [command = '', ...args] = words;
  const { name, env, maxProcesses, process: sharing } = options;
  const backend = {
    command,
    args,
    ...(env && { env }),
    ...(sharing && { process: sharing }),
    ...(maxProcesses !== undefined && { maxProcesses }),
  };
  const route = { path: '/', backend, ...(name !== undefined && { name }) };
  await runServer(loadSettings(options.config, { ...options, routes: { [routeName]: route } }), options);
}

/**
 * Registers `gatehouse protect`.
 * @param program the command line
 */
export function registerProtect(program: Command): void {
  program
    .command('protect')
    .description('put an MCP server that is a program (stdio) behind login, at /mcp')
    .usage('[options] -- <command> [arguments...]')
    .argument('<command...>', 'the program and its arguments, as they are: no shell reads them')
    .option('--name <name>', 'what people call it (default: the host of the public URL)')
    .option('--env <variable>', 'hand over a variable of the environment; repeatable', collectName)
    .addOption(
      new Option('--process <whose>', 'who shares a process of the program (default: session)').choices([
        'session',
        'account',
        'shared',
      ]),
    )
    .option(
      '--max-processes <count>',
      'most processes of the program at once (default: 50)',
      parseWhole(1, 10_000),
    )
    .option('--port <port>', 'port to listen on (default: 3000)', parsePort)
    .option('--data <folder>', 'folder of the database and the key file (default: ./data)')
    .option('--config <file>', 'config file; config/options.md lists its settings')
    .option('--public-url <url>', 'where clients reach this server (default: http://localhost:<port>)')
    .option('--json', 'print where the server is as JSON')
    .addHelpText(
      'after',
      `\nExample:\n  ${programName} protect --name Files -- npx -y @modelcontextprotocol/server-filesystem /srv/files`,
    )
    .action(protect);
}
