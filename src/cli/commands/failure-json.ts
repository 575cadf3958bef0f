import { ProtocolError } from '@modelcontextprotocol/client';
import type { Command, CommanderError } from 'commander';
import { ClientError } from '../../client/index.ts';
import { CliError } from '../cli-error.ts';
import { type CommandIo, formatJson, type TextSink } from '../output.ts';
import { causes } from './client-failure.ts';

/**
 * A failure as JSON: what the server answered, as it is; else the sentence, with the reason where it has a name, and
 * what to do. It holds no secret (T-191).
 * @param failure what `explainFailure` gave
 * @see JSON-RPC 2.0 section 5.1
 */
export function failureAsJson(failure: CliError): Record<string, unknown> {
  const { message, hint } = failure;
  const chain = causes(failure);
  const ours = chain.find((cause) => cause instanceof ClientError);
  const answered = chain.find((cause) => cause instanceof ProtocolError);
  if (!ours && answered instanceof ProtocolError) {
    const { code, data } = answered;
    return { code, message: answered.message, ...(data === undefined ? {} : { data }) };
  }
  return {
    ...(ours instanceof ClientError ? { reason: ours.reason } : {}),
    message,
    ...(hint === undefined ? {} : { hint }),
  };
}

/** An output, and whether anything was written to it. */
function watchSink(sink: TextSink): { sink: TextSink; isWritten: () => boolean } {
  let isWritten = false;
  const write = (text: string): unknown => {
    isWritten = true;
    return sink.write(text);
  };
  const { isTTY, columns } = sink;
  return { sink: { write, isTTY, columns }, isWritten: () => isWritten };
}

/** What the command line cannot be understood for, without the word that begins each such line. */
const faultOf = ({ message }: CommanderError): string => message.replace(/^error: /, '');

/**
 * Gives a command of the client its action. With `--json`, standard output has a JSON document also where it fails:
 * what it printed before, such as the result of a tool that failed, else `{ "error": … }`. Faults in its arguments and
 * options are failures like others.
 * @param command with its arguments and options
 * @param io the surroundings
 * @param run the action; it gets the surroundings, then what commander gives
 * @returns the same command
 */
export function clientAction<Given extends unknown[]>(
  command: Command,
  io: CommandIo,
  run: (io: CommandIo, ...given: Given) => Promise<void>,
): Command {
  const tell = (error: Record<string, unknown>): unknown => io.stdout.write(formatJson({ error }));
  return command
    .exitOverride((stop) => {
      // Its own options are not known before all words were read, and a fault ends that.
      if (stop.exitCode !== 0 && command.parent?.args.includes('--json')) tell({ message: faultOf(stop) });
      throw stop;
    })
    .action(async (...given) => {
      const { sink, isWritten } = watchSink(io.stdout);
      try {
        await run({ ...io, stdout: sink }, ...(given as unknown[] as Given));
      } catch (failure) {
        if (command.opts().json && failure instanceof CliError && !isWritten()) tell(failureAsJson(failure));
        throw failure;
      }
    });
}
