import { type Command, CommanderError } from 'commander';
import { CliError, type ExitCode, exitCodes } from './cli-error.ts';
import { type CommandIo, formatJson, printable, type TextSink } from './output.ts';

/** Adds one command to the command line. */
export type Register = (program: Command, io: CommandIo) => void;

/** Wraps an output to record if anything was written to it. */
function watchSink(sink: TextSink): { sink: TextSink; isWritten: () => boolean } {
  let isWritten = false;
  const write = (text: string): unknown => {
    isWritten = true;
    return sink.write(text);
  };
  const { isTTY, columns } = sink;
  return { sink: { write, isTTY, columns }, isWritten: () => isWritten };
}

/** Turns a parse error of commander into a CliError, without the leading `error:`. */
function misunderstood({ code, message }: CommanderError): CliError {
  const isOnlyHelp = code === 'commander.help';
  return new CliError(isOnlyHelp ? 'Name a command.' : message.replace(/^error: /, ''), exitCodes.usage);
}

/** Maps an error to a sentence and an exit code. Commander has printed its own errors on standard error already. */
async function explain(error: unknown): Promise<CliError> {
  if (error instanceof CommanderError) return misunderstood(error);
  if (error instanceof CliError) return error;
  const { explainServerFailure } = await import('./failures.ts');
  return (
    explainServerFailure(error) ??
    new CliError(`Unexpected failure: ${(error as Error).message}`, exitCodes.unexpected)
  );
}

/** @returns the command that words name, or the group in which they name none */
function namedCommand(program: Command, [word, ...words]: readonly string[]): Command {
  const found = program.commands.find((command) => command.name() === word);
  return found ? namedCommand(found, words) : program;
}

/** Checks if `--json` was given, for a command that has the option or without a command. Words after `--` are for another program. */
function wantsJson(program: Command, words: readonly string[]): boolean {
  const end = words.indexOf('--');
  if (!words.slice(0, end === -1 ? undefined : end).includes('--json')) return false;
  const { commands, options } = namedCommand(program, words);
  return commands.length > 0 || options.some(({ long }) => long === '--json');
}

/**
 * Runs one of the commands. A failure becomes a sentence on standard error and an exit code; with `--json`, standard output
 * has a JSON document all the same: what was printed before, such as the result of a tool that failed, else
 * `{ "error": … }`. Faults in arguments and options are failures like others.
 * @param program commander's program, set to throw instead of exiting
 * @param registers the commands
 * @param argv as `process.argv`
 * @returns the exit code
 */
export async function runCommands(
  program: Command,
  registers: readonly Register[],
  argv: readonly string[],
  io: CommandIo,
): Promise<ExitCode> {
  const { sink, isWritten } = watchSink(io.stdout);
  for (const register of registers) register(program, { ...io, stdout: sink });
  try {
    await program.parseAsync([...argv]);
    return exitCodes.ok;
  } catch (error) {
    const isTold = error instanceof CommanderError;
    if (isTold && error.exitCode === 0) return exitCodes.ok;
    const failure = await explain(error);
    if (!isTold) {
      io.stderr.write(`${printable(failure.message)}\n`);
      if (failure.hint) io.stderr.write(`${printable(failure.hint)}\n`);
    }
    if (wantsJson(program, argv.slice(2)) && !isWritten()) {
      const { failureAsJson } = await import('./failures.ts');
      io.stdout.write(formatJson({ error: failureAsJson(failure) }));
    }
    return failure.exitCode;
  }
}
