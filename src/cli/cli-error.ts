/**
 * An error that the command line shows as one sentence, without a stack. Message and hint contain no secret; the hint says
 * what to do next.
 */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;
  /** Name of the failure with `--json`. Scripts may rely on it. */
  readonly reason: string;

  /**
   * @param message the sentence
   * @param exitCode the code the process ends with
   * @param hint a suggestion, often a command to run
   * @param reason name that distinguishes failures with the same exit code
   */
  constructor(message: string, exitCode: ExitCode, hint?: string, reason = exitCodeReasons[exitCode]) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
    this.reason = reason;
  }
}

/** Exit codes of the command line. Scripts may rely on them. */
export const exitCodes = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  loginNeeded: 3,
  scopeMissing: 4,
  toolError: 5,
  unreachable: 6,
  cannotServe: 7,
  faultsFound: 8,
  notExamined: 9,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The table shown by the documentation and by `gatehouse --help`. */
export const exitCodeMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'ok',
  1: 'unexpected failure',
  2: 'wrong usage: an argument or option is missing or malformed',
  3: 'a login is needed, or it was not completed',
  4: 'the login lacks a scope',
  5: 'the tool returned an error',
  6: 'the server cannot be reached, returns an error, or does not follow the protocol',
  7: 'the server cannot start, or its data or the stored logins cannot be opened',
  8: 'doctor or upstream test found problems, or the audit log was changed',
  9: 'the server or upstream to examine was not reached, or the examination was stopped',
};

/** Names with `--json` of failures without a more precise one. */
const exitCodeReasons: Readonly<Record<ExitCode, string>> = {
  0: 'ok',
  1: 'unexpected',
  2: 'wrong_usage',
  3: 'login_needed',
  4: 'scope_missing',
  5: 'tool_error',
  6: 'unreachable',
  7: 'cannot_serve',
  8: 'faults_found',
  9: 'not_examined',
};
