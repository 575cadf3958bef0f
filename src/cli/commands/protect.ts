import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadSettings, type Overrides } from '../../config/load.ts';
import { createLogger } from '../../observability/logger.ts';
import { describeMissingProgram } from '../../settings/backends/program-advice.ts';
import { SettingsRefused } from '../../settings/issues.ts';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { readHostFile } from '../host-file.ts';
import { type CommandIo, printableLine, processIo } from '../output.ts';
import { programName } from '../program-name.ts';
import { shellWord } from '../shell-word.ts';
import { parseWhole } from '../whole-number.ts';
import { retellProblems } from './protect-problems.ts';
import { protectedName } from './protected-name.ts';
import { createRetellingLogger } from './retelling-logger.ts';
import { hintAtScheme } from './scheme-hint.ts';
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
  import?: string;
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

function isUrl(word = ''): boolean {
  return /^https?:\/\//i.test(word);
}

/**
 * Requires a program that is there: it is all there is to serve.
 * @throws CliError exit code 2
 */
function requireProgram([command, ...args]: readonly string[]): void {
  if (command === undefined || isUrl(command)) return;
  const missing = describeMissingProgram(command, process.env.PATH);
  if (missing === undefined) return;
  const isLine = args.length === 0 && /\s/.test(command.trim());
  const address = /[:/]/.test(command) ? hintAtScheme(command) : undefined;
  const words = command.trim().split(/\s+/).map(shellWord).join(' ');
  throw new CliError(
    `${printableLine(command)}: ${isLine ? 'there is no program of that name' : missing}.`,
    exitCodes.usage,
    isLine
      ? `No shell reads it: write its words without quotes around them all, ${programName} protect -- ${printableLine(words)}`
      : address,
  );
}

/** What is to be protected: routes and servers for the settings. */
function readTarget(
  words: readonly string[],
  { name, env, maxProcesses, process: sharing, import: file }: ProtectOptions,
): Pick<Overrides, 'routes' | 'mcpServers'> {
  const [command, ...args] = words;
  if (command === undefined && file === undefined)
    throw new CliError(
      'Say what to protect: a command, a URL, or --import with a file.',
      exitCodes.usage,
      `${programName} protect -- npx -y @modelcontextprotocol/server-filesystem /srv/files`,
    );
  if (command !== undefined && file !== undefined)
    throw new CliError(
      `--import and ${printableLine(command)} do not go together: protect either the servers of the file, or this one.`,
      exitCodes.usage,
      'Servers beside others are routes of a config file: docs/gateway.md.',
    );
  if (isUrl(command) && args.length > 0)
    throw new CliError(
      `A URL stands alone: only a program takes arguments, such as ${args[0]}.`,
      exitCodes.usage,
    );
  const ofPrograms = { env, maxProcesses, process: sharing };
  const misplaced = Object.entries(ofPrograms).find(([, value]) => value !== undefined);
  if (misplaced && (isUrl(command) || file !== undefined))
    throw new CliError('--env, --process and --max-processes are for a command.', exitCodes.usage);
  if (file !== undefined) {
    if (name !== undefined)
      throw new CliError('--name is for one server; those of a file have names.', exitCodes.usage);
    return { mcpServers: readHostFile(file) };
  }
  const target = command ?? '';
  const backend = isUrl(target)
    ? { url: target }
    : {
        command: target,
        args,
        ...(env && { env }),
        ...(sharing && { process: sharing }),
        ...(maxProcesses !== undefined && { maxProcesses }),
      };
  return { routes: { [routeName]: { path: '/', backend, name: name ?? protectedName(words) } } };
}

/** What is wrong with settings, in the words of the command line. */
function retold(error: unknown): unknown {
  return error instanceof SettingsRefused
    ? new SettingsRefused(retellProblems(error.problems, routeName))
    : error;
}

async function protect(words: readonly string[], options: ProtectOptions, io: CommandIo): Promise<void> {
  const load = () => {
    try {
      return loadSettings(options.config, { ...options, ...readTarget(words, options) });
    } catch (error) {
      throw retold(error);
    }
  };
  const settings = load();
  const hasPrograms = Object.values(settings.routes)
    .flatMap(({ backend, backends = {} }) => [backend ?? [], Object.values(backends)].flat())
    .some((backend) => 'command' in backend);
  if (process.platform === 'win32' && hasPrograms)
    throw new CliError(
      'A program cannot be protected on Windows: it has no process groups to end it with.',
      exitCodes.cannotServe,
      'Run it in WSL or in a Linux container.',
    );
  requireProgram(words);
  const files = [options.config, options.import].filter((file) => file !== undefined);
  const logger = createRetellingLogger(
    createLogger(settings.log.level),
    (sentence) => retellProblems([sentence], routeName)[0] ?? sentence,
  );
  await runServer(settings, { io, json: options.json, files, load, logger }).catch((error) => {
    throw retold(error);
  });
}

/**
 * Registers `gatehouse protect`.
 * @param program the command line
 * @param io its surroundings; those of the process by default
 */
export function registerProtect(program: Command, io: CommandIo = processIo()): void {
  program
    .command('protect')
    .description('put an MCP server behind login, at /mcp: a program (stdio), or one by its URL')
    .usage(
      '[options] -- <command> [arguments...]\n       gatehouse protect [options] <url>\n       gatehouse protect [options] --import <file>',
    )
    .argument('[command...]', 'the program and its arguments, as they are: no shell reads them; or a URL')
    .option(
      '--import <file>',
      'serve all MCP servers of a desktop host’s file, such as .mcp.json, each at /<name>/mcp',
    )
    .option('--name <name>', 'what people call it (default: the package, file or host it is)')
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
    .showHelpAfterError(
      'Run with --help to see how it is used. A program that has options of its own stands behind --.',
    )
    .action((words: string[], options: ProtectOptions) => protect(words, options, io));
}
