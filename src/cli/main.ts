import { Console } from 'node:console';
import { Command } from 'commander';
import { packageVersion } from '../package-files.ts';
import { type ExitCode, exitCodeMeanings, exitCodes } from './cli-error.ts';
import { processIo } from './output.ts';
import { type Register, runCommands } from './run-commands.ts';

/**
 * The commands, in the order of the help. Each is loaded only if it runs: the server and its database take most of a second
 * to load, and hosts start `gatehouse connect` for each of their windows.
 */
const commands: Readonly<Record<string, () => Promise<Register>>> = {
  serve: async () => (await import('./commands/server/serve.ts')).registerServe,
  protect: async () => (await import('./commands/server/protect.ts')).registerProtect,
  routes: async () => (await import('./commands/server/routes.ts')).registerRoutes,
  reload: async () => (await import('./commands/server/reload.ts')).registerReload,
  nodes: async () => (await import('./commands/operator/nodes.ts')).registerNodes,
  stdio: async () => (await import('./commands/server/stdio.ts')).registerStdio,
  account: async () => (await import('./commands/operator/account.ts')).registerAccount,
  client: async () => (await import('./commands/operator/client.ts')).registerClient,
  'check-config': async () => (await import('./commands/server/check-config.ts')).registerCheckConfig,
  backup: async () => (await import('./commands/operator/backup.ts')).registerBackup,
  restore: async () => (await import('./commands/operator/backup.ts')).registerRestore,
  storage: async () => (await import('./commands/operator/storage.ts')).registerStorage,
  keys: async () => (await import('./commands/operator/keys.ts')).registerKeys,
  audit: async () => (await import('./commands/operator/audit.ts')).registerAudit,
  calls: async () => (await import('./commands/operator/calls.ts')).registerCalls,
  grant: async () => (await import('./commands/operator/access.ts')).registerGrant,
  session: async () => (await import('./commands/operator/access.ts')).registerSession,
  upstream: async () => (await import('./commands/operator/upstream.ts')).registerUpstream,
  pins: async () => (await import('./commands/operator/pins.ts')).registerPins,
  credential: async () => (await import('./commands/operator/access.ts')).registerCredential,
  login: async () => (await import('./commands/mcp-client/login.ts')).registerLogin,
  logout: async () => (await import('./commands/mcp-client/logout.ts')).registerLogout,
  token: async () => (await import('./commands/mcp-client/token.ts')).registerToken,
  whoami: async () => (await import('./commands/mcp-client/whoami.ts')).registerWhoami,
  tools: async () => (await import('./commands/mcp-client/tools.ts')).registerTools,
  call: async () => (await import('./commands/mcp-client/call.ts')).registerCall,
  resources: async () => (await import('./commands/mcp-client/resources.ts')).registerResources,
  prompts: async () => (await import('./commands/mcp-client/prompts.ts')).registerPrompts,
  connect: async () => (await import('./commands/mcp-client/connect.ts')).registerConnect,
  doctor: async () => (await import('./commands/doctor/doctor.ts')).registerDoctor,
  completion: async () => (await import('./commands/completion.ts')).registerCompletion,
};

/** Returns the named command, or all commands if the word names none or needs all of them. */
function wantedCommands(asked: string | undefined): readonly (() => Promise<Register>)[] {
  if (asked === '--version' || asked === '-V') return [];
  const load =
    asked !== undefined && asked !== 'completion' && Object.hasOwn(commands, asked) && commands[asked];
  return load ? [load] : Object.values(commands);
}

/** The command line, without its commands. */
function newProgram(): Command {
  return new Command('gatehouse')
    .description('OAuth 2.1 in front of any MCP server, and the client to try it with.')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('Run with --help to see the usage.')
    .addHelpText('after', () => {
      const codes = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code}  ${meaning}`);
      return `\nExit codes:\n${codes.join('\n')}`;
    });
}

/**
 * Runs the command line.
 * @param argv as `process.argv`
 * @returns the exit code
 */
async function run(argv: readonly string[]): Promise<ExitCode> {
  const registers = await Promise.all(wantedCommands(argv[2]).map((load) => load()));
  return runCommands(newProgram(), registers, argv, processIo());
}

// Standard output is for results and protocols alone: libraries write to the console when it suits them (B1-03).
globalThis.console = new Console(process.stderr);
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    // Who reads our output may stop reading: `gatehouse account list | head -1`.
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    if (output === process.stdout)
      process.stderr.write(`Standard output cannot be written to the end (${error.message}).\n`);
    process.exit(exitCodes.unexpected);
  });
process.exitCode = await run(process.argv);
