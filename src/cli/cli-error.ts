import { type ExitCode, exitCodeReasons } from './exit-codes.ts';

/**
 * A failure that the command line shows as one sentence, without a stack.
 * Message and hint hold no secret; the hint says what to do next.
 */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  /** What it is called with `--json`. Scripts may rely on it. */
  readonly reason: string;

  /**
   * @param message what went wrong
   * @param exitCode the code the process ends with
   * @param hint what to do, often a command to run
   * @param reason what tells it from other failures with this exit code
   */
  constructor(message: string, exitCode: ExitCode, hint?: string, reason = exitCodeReasons[exitCode]) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.reason = reason;
  }
}
