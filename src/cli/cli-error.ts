import type { ExitCode } from './exit-codes.ts';

/**
 * A failure that the command line shows as one sentence, without a stack.
 * Message and hint hold no secret; the hint says what to do next.
 */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  /**
   * @param message what went wrong
   * @param exitCode the code the process ends with
   * @param hint what to do, often a command to run
   */
  constructor(message: string, exitCode: ExitCode, hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
