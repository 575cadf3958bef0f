import { type Logger as PinoLogger, pino } from 'pino';

/** A structured logger: one JSON line per call. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'child'>;

/** Levels a log can be set to; `silent` writes nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** Longest string that goes into a log line, in characters. */
const maxLoggedLength = 500;

/**
 * Names whose values never reach a log line, whatever object they stand in (T-194). By pino's documented
 * redaction, two levels deep: our own calls log flat objects.
 */
const secretNames = [
  'authorization',
  'cookie',
  'password',
  'access_token',
  'refresh_token',
  'id_token',
  'client_secret',
  'code',
  'code_verifier',
  'token',
  'registration_access_token',
];

/** An error in a log line. Its own code (SQLITE_FULL, ENOTFOUND) stands as `errorCode`: `code` is the name of a secret. */
function describeError(error: Error): object {
  const { code, ...described } = pino.stdSerializers.err(error);
  const named = typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code);
  return named ? { ...described, errorCode: code } : described;
}

/**
 * Cuts what others chose (a User-Agent, a client name) to a length that a log line can bear (T-195).
 * @param value any string, or undefined
 */
export function loggable(value: string | undefined): string | undefined {
  if (value === undefined || value.length <= maxLoggedLength) return value;
  return `${value.slice(0, maxLoggedLength)}… (${value.length} characters)`;
}

/**
 * Creates the logger: JSON lines on standard error, secrets taken out by name. pino, because it is the most used
 * structured logger on Node, escapes what it is given and redacts by path.
 * @param level lowest level written
 * @param write where lines go; standard error by default
 */
export function createLogger(level: LogLevel, write?: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, cause: describeError },
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    },
    write ? { write } : pino.destination({ fd: 2, sync: true }),
  );
}
