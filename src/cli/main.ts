import { Command, CommanderError } from 'commander';
import { AdministrationRefused, createLocalGatehouse, SettingsRefused } from '../index.ts';
import { KeyFileFault } from '../storage/sqlite/index.ts';
import { StorageFault, StorageUnavailable } from '../storage/storage.ts';
import { CliError } from './cli-error.ts';
import { registerAccount } from './commands/account.ts';
import { registerCall } from './commands/call.ts';
import { registerClient } from './commands/client.ts';
import { registerCompletion } from './commands/completion.ts';
import { registerConnect } from './commands/connect.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerLogin } from './commands/login.ts';
import { registerLogout } from './commands/logout.ts';
import { registerPrompts } from './commands/prompts.ts';
import { registerResources } from './commands/resources.ts';
import { registerServe } from './commands/serve.ts';
import { registerStdio } from './commands/stdio.ts';
import { registerToken } from './commands/token.ts';
import { registerTools } from './commands/tools.ts';
import { registerWhoami } from './commands/whoami.ts';
import { type ExitCode, exitCodeMeanings, exitCodes } from './exit-codes.ts';
import { packageVersion } from './package-version.ts';

/** Builds the command line. */
export function buildProgram(): Command {
  const program = new Command('gatehouse')
    .description('OAuth 2.1 in front of any MCP server, and the client to try it with.')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('Run with --help to see how it is used.')
    .addHelpText('after', () => {
      const codes = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code}  ${meaning}`);
      return `\nExit codes:\n${codes.join('\n')}`;
    });
  registerServe(program);
  registerStdio(program, ({ keys: _keys, ...serving }) => createLocalGatehouse(serving));
  registerAccount(program);
  registerClient(program);
  registerLogin(program);
  registerLogout(program);
  registerToken(program);
  registerWhoami(program);
  registerTools(program);
  registerCall(program);
  registerDoctor(program);
  registerResources(program);
  registerPrompts(program);
  registerConnect(program);
  registerCompletion(program);
  return program;
}

/** What an error means for the person at the terminal; undefined for one that nobody foresaw. */
function explain(
  error: unknown,
): { sentence: string; code: ExitCode; hint?: string | undefined } | undefined {
  if (error instanceof CliError) return { sentence: error.message, code: error.exitCode, hint: error.hint };
  if (error instanceof SettingsRefused) return { sentence: error.message, code: exitCodes.usage };
  if (error instanceof AdministrationRefused) return { sentence: error.message, code: exitCodes.usage };
  if (error instanceof StorageFault || error instanceof KeyFileFault || error instanceof StorageUnavailable)
    return { sentence: error.message, code: exitCodes.cannotServe };
  return undefined;
}

/**
 * Runs the command line.
 * @param argv as `process.argv`
 * @returns the exit code
 */
export async function run(argv: readonly string[]): Promise<ExitCode> {
  try {
    await buildProgram().parseAsync([...argv]);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const known = explain(error);
    process.stderr.write(`${known?.sentence ?? `Unexpected failure: ${(error as Error).message}`}\n`);
    if (known?.hint) process.stderr.write(`${known.hint}\n`);
    return known?.code ?? exitCodes.unexpected;
  }
}

// Who reads our output may stop reading: `gatehouse account list | head -1`.
for (const output of [process.stdout, process.stderr])
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodes.ok);
  });
process.exitCode = await run(process.argv);
