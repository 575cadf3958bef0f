import { type Command, InvalidArgumentError, Option } from 'commander';

/** Ways to reach a server that can be chosen; without a choice they are tried in the order of the standard. */
export const transportNames = ['http', 'sse', 'rest', 'stdio'] as const;

/** How a command reaches its server, as commander gives it. */
export interface ConnectionOptions {
  transport?: (typeof transportNames)[number];
  /** See `readGivenHeaders`. */
  header?: string[];
  /** Seconds. */
  timeout?: number;
  trace?: boolean;
}

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new InvalidArgumentError('It is a number of seconds, up to a day.');
  return seconds;
}

function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** `--header`, see `readGivenHeaders`. */
export const headerOption = [
  '--header <header>',
  `add a header: 'Name: env:VARIABLE' or 'Name: @file' (repeatable)`,
  collect,
] as const;

/** `--timeout`, see `requestOptions`. */
export const timeoutOption = [
  '--timeout <seconds>',
  'longest wait for an answer without any progress (default: 60)',
  parseSeconds,
] as const;

/** `--max-time`, see `callTool`. */
export const maxTimeOption = [
  '--max-time <seconds>',
  'longest time for the whole call, however much progress the server tells of (default: none)',
  parseSeconds,
] as const;

/** `--trace`, see `withTrace`. */
export const traceOption = [
  '--trace',
  'print each HTTP exchange on standard error, as curl commands without secrets',
] as const;

/**
 * Adds the options of every command that connects to a server.
 * @param command the command
 * @returns the same command
 */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--transport <name>',
        'do not look for the transport; with stdio, <url> is a command line',
      ).choices(transportNames),
    )
    .option(...headerOption)
    .option(...timeoutOption)
    .option(...traceOption);
}

/**
 * Splits a command line at blanks; single and double quotes keep them. Nothing is expanded.
 * @param line as typed
 */
export function splitCommandLine(line: string): string[] {
  const words = line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g);
  return [...words].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_all, one = '', other = '') => one + other),
  );
}
