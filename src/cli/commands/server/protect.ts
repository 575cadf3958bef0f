import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { loadSettings, type Overrides } from '../../../config/load.ts';
import { parseJsonWithComments } from '../../../doctor/machine/hosts/json-with-comments.ts';
import { createLogger, type Logger } from '../../../observability/logger.ts';
import { describeMissingProgram } from '../../../settings/backends/program-advice.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { programName, shellWord } from '../../command-text.ts';
import { parsePort, parseWhole } from '../../option-parsers.ts';
import { type CommandIo, printableLine, processIo } from '../../output.ts';
import { hintAtScheme } from '../mcp-client/client-failure.ts';
import { protectedName } from './protected-name.ts';
import { runServer } from './serve.ts';

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

/** Settings of the route, and what they were given as; the first that fits counts. */
const givenAs: readonly (readonly [RegExp, string])[] = [
  [/^backend(?=: The environment has no )/, '--env'],
  [/^backend\.env(\.\d+)?(?=: )/, '--env'],
  [/^backend\.process(?=: )/, '--process'],
  [/^backend\.maxProcesses(?=: )/, '--max-processes'],
  [/^backend\.url(?=: )/, 'the URL'],
  [/^backend(\.command)?(?=: | \()/, 'the command'],
  [/^backend\.args(\.\d+)?(?=: )/, 'the arguments of the command'],
  [/^name(?=: )/, '--name'],
];

/** Settings that a sentence says to write, and what is written in their place. */
const writtenAs: readonly (readonly [RegExp, string])[] = [
  [/, or name the variable in env\.$/, ', or hand the variable over with --env.'],
  [/ by name in \S+, or with (--env .+) for gatehouse protect\.$/, ' with $1.'],
];

/**
 * Tells what is wrong, or probably wrong, with the settings of `gatehouse protect` in the words in which they were given:
 * people wrote no route.
 * @param problems a sentence each, with the place it is at
 * @param route the name that what is protected has among the routes
 */
export function retellProblems(problems: readonly string[], route: string): string[] {
  const place = `routes.${route}.`;
  return problems.map((problem) => {
    const [, name, other] =
      /^routes\.([\w-]+)\.path: \/ is the path of ([\w-]+) already$/.exec(problem) ?? [];
    const atRoot = [name, other].find((each) => each !== route);
    if (atRoot !== undefined && [name, other].includes(route))
      return `routes.${atRoot}.path: / is where gatehouse protect puts what it is given; set another path, such as /${atRoot}`;
    if (!problem.startsWith(place)) return problem;
    const rest = problem.slice(place.length);
    const given = givenAs.find(([pattern]) => pattern.test(rest));
    if (given === undefined) return problem;
    return writtenAs.reduce((told, [advised, words]) => told.replace(advised, words), rest.replace(...given));
  });
}

/**
 * Gives a logger whose warnings of one sentence, such as those about settings, are told in other words.
 * @param logger writes them, and all else as it is
 * @param retell the sentence in other words
 */
export function createRetellingLogger(logger: Logger, retell: (sentence: string) => string): Logger {
  const write = logger.warn.bind(logger) as (...line: unknown[]) => void;
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: (first: unknown, ...rest: unknown[]) =>
      write(typeof first === 'string' ? retell(first) : first, ...rest),
    error: logger.error.bind(logger),
    isLevelEnabled: logger.isLevelEnabled.bind(logger),
  };
}

/** Members under which hosts keep their servers. */
const serverMembers = ['mcpServers', 'servers'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readDocument(file: string): unknown {
  const refused = (fault: string): CliError =>
    new CliError(`${printableLine(file)}: ${fault}.`, exitCodes.usage);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw refused(isMissing ? 'there is no such file' : 'the file cannot be read');
  }
  try {
    return parseJsonWithComments(text);
  } catch {
    // The message of JSON.parse repeats the text around the fault, which may be a secret.
    throw refused('is no JSON');
  }
}

/**
 * Reads the MCP servers out of the configuration of a desktop host.
 * @param file path of a file such as claude_desktop_config.json, .mcp.json, or mcp.json of Cursor or VS Code
 * @returns the block as it stands there, for `mcpServers` of the settings
 * @throws CliError where there is none; it repeats nothing of the file
 */
export function readHostFile(file: string): Record<string, unknown> {
  const document = readDocument(file);
  const blocks = isObject(document) ? serverMembers.map((member) => document[member]) : [];
  const block = blocks.find(isObject);
  if (block && Object.keys(block).length > 0) return block;
  throw new CliError(
    `${printableLine(file)}: has no MCP servers.`,
    exitCodes.usage,
    'They stand under "mcpServers", or in files of VS Code under "servers".',
  );
}
