import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { shellWord } from '../../../client/quote.ts';
import { loadSettings, type Overrides } from '../../../config/load.ts';
import { parseJsonWithComments } from '../../../doctor/machine/hosts/json-with-comments.ts';
import { createLogger, type Logger } from '../../../observability/logger.ts';
import { describeMissingProgram } from '../../../settings/backends/program-advice.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { isRecord } from '../../../settings/scopes.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { parsePort, parseWhole } from '../../option-parsers.ts';
import { type CommandIo, printableLine, processIo, programName } from '../../output.ts';
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

/** Name of the route in the settings. */
const routeName = 'protected';

function collectName(name: string, names: readonly string[] = []): string[] {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new InvalidArgumentError(
      'It takes the name of an environment variable; the value is read from the environment.',
    );
  return [...names, name];
}

function isUrl(word = ''): boolean {
  return /^https?:\/\//i.test(word);
}

/**
 * Requires that the program exists.
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
      ? `No shell reads it: write it without quotes around the whole command, ${programName} protect -- ${printableLine(words)}`
      : address,
  );
}

/** Returns the routes or servers of the settings that the command line describes. */
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
      `--import and ${printableLine(command)} cannot be combined: protect either the servers of the file, or this one.`,
      exitCodes.usage,
      'To serve both, write routes in a config file: docs/gateway.md.',
    );
  if (isUrl(command) && args.length > 0)
    throw new CliError(`A URL takes no arguments, such as ${args[0]}: only a program does.`, exitCodes.usage);
  const ofPrograms = { env, maxProcesses, process: sharing };
  const misplaced = Object.entries(ofPrograms).find(([, value]) => value !== undefined);
  if (misplaced && (isUrl(command) || file !== undefined))
    throw new CliError('--env, --process and --max-processes are for a command.', exitCodes.usage);
  if (file !== undefined) {
    if (name !== undefined)
      throw new CliError('--name is for one server; the servers of a file have names.', exitCodes.usage);
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

/** Rewrites problems of settings in the words of the command line. */
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

/** Registers `gatehouse protect`. */
export function registerProtect(program: Command, io: CommandIo = processIo()): void {
  program
    .command('protect')
    .description('put an MCP server behind a login, at /mcp: a program (stdio), or a server by its URL')
    .usage(
      '[options] -- <command> [arguments...]\n       gatehouse protect [options] <url>\n       gatehouse protect [options] --import <file>',
    )
    .argument('[command...]', 'the program and its arguments, run without a shell; or a URL')
    .option(
      '--import <file>',
      'serve all MCP servers of a desktop host’s file, such as .mcp.json, each at /<name>/mcp',
    )
    .option('--name <name>', 'name that people see (default: the name of the package, file or host)')
    .option('--env <variable>', 'pass an environment variable to the program; repeatable', collectName)
    .addOption(
      new Option('--process <whose>', 'who shares a process of the program (default: session)').choices([
        'session',
        'account',
        'shared',
      ]),
    )
    .option(
      '--max-processes <count>',
      'maximum number of processes of the program (default: 50)',
      parseWhole(1, 10_000),
    )
    .option('--port <port>', 'port to listen on (default: 3000)', parsePort)
    .option('--data <folder>', 'folder of the database and the key file (default: ./data)')
    .option('--config <file>', 'config file; config/options.md lists its settings')
    .option('--public-url <url>', 'URL at which clients reach this server (default: http://localhost:<port>)')
    .option('--json', 'print the URLs of the server as JSON')
    .addHelpText(
      'after',
      `\nExample:\n  ${programName} protect --name Files -- npx -y @modelcontextprotocol/server-filesystem /srv/files`,
    )
    .showHelpAfterError('Run with --help to see the usage. Put a program that has options after --.')
    .action((words: string[], options: ProtectOptions) => protect(words, options, io));
}

/** Settings of the route, with the options that set them; the first match counts. */
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

/** Advice about settings, with the advice for the command line. */
const writtenAs: readonly (readonly [RegExp, string])[] = [
  [/, or name the variable in env\.$/, ', or pass the variable with --env.'],
  [/ by name in \S+, or with (--env .+) for gatehouse protect\.$/, ' with $1.'],
];

/**
 * Rewrites problems of settings in the words of `gatehouse protect`, because its user wrote no route.
 * @param problems one sentence each, with its setting
 * @param route name of the route in the settings
 */
export function retellProblems(problems: readonly string[], route: string): string[] {
  const place = `routes.${route}.`;
  return problems.map((problem) => {
    const [, name, other] =
      /^routes\.([\w-]+)\.path: \/ is the path of ([\w-]+) already$/.exec(problem) ?? [];
    const atRoot = [name, other].find((each) => each !== route);
    if (atRoot !== undefined && [name, other].includes(route))
      return `routes.${atRoot}.path: gatehouse protect uses the path / itself; set another path, such as /${atRoot}`;
    if (!problem.startsWith(place)) return problem;
    const rest = problem.slice(place.length);
    const given = givenAs.find(([pattern]) => pattern.test(rest));
    if (given === undefined) return problem;
    return writtenAs.reduce((told, [advised, words]) => told.replace(advised, words), rest.replace(...given));
  });
}

/**
 * Wraps a logger so that warnings of one sentence, such as advice on settings, are rewritten.
 * @param logger the wrapped logger
 * @param retell rewrites a sentence
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

/** Members in which hosts list their servers. */
const serverMembers = ['mcpServers', 'servers'];

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
    throw refused('is not JSON');
  }
}

/**
 * Reads the MCP servers from the configuration of a desktop host.
 * @param file path of a file such as claude_desktop_config.json, .mcp.json, or mcp.json of Cursor or VS Code
 * @returns the unchanged block, for `mcpServers` of the settings
 * @throws CliError if it has none; the message repeats nothing of the file
 */
export function readHostFile(file: string): Record<string, unknown> {
  const document = readDocument(file);
  const blocks = isRecord(document) ? serverMembers.map((member) => document[member]) : [];
  const block = blocks.find(isRecord);
  if (block && Object.keys(block).length > 0) return block;
  throw new CliError(
    `${printableLine(file)}: has no MCP servers.`,
    exitCodes.usage,
    'They must be under "mcpServers", or under "servers" in files of VS Code.',
  );
}
