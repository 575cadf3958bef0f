import { ProtocolError } from '@modelcontextprotocol/client';
import { ClientError } from '../../client/index.ts';
import { CliError } from '../cli-error.ts';
import { type CommandIo, formatJson } from '../output.ts';
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

/**
 * Gives what prints a failure as `{ "error": … }` where JSON is asked for, so that a program has it, too.
 * @param options of the command
 * @param io the surroundings
 * @returns takes what was thrown, and throws it again
 */
export function printsFailure({ json }: { json?: boolean }, io: CommandIo): (failure: unknown) => never {
  return (failure) => {
    if (json && failure instanceof CliError) io.stdout.write(formatJson({ error: failureAsJson(failure) }));
    throw failure;
  };
}
