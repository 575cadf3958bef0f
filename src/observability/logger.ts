import { type Logger as PinoLogger, pino } from 'pino';

/** A structured logger: one JSON line per call. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

/** Levels a log can be set to; `silent` writes nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** How much of the log waits for the end of a turn, in characters; more goes out at once. */
const maxWaitingLength = 65_536;

/** Longest string that goes into a log line, in characters. */
const maxLoggedLength = 500;

/**
 * Names whose values never reach a log line, whatever object they stand in (T-194), two levels deep: our own calls
 * log flat objects. pino's own redaction takes them out of the first level; its wildcards for the second would cost
 * more than all the rest of a line.
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

/** What stands in the place of a secret. */
const censor = '[redacted]';

const secrets: ReadonlySet<string> = new Set(secretNames);

/** What takes the secrets out by itself, once it is known what of an error goes into the line. */
const serializers = { err: describeError, cause: describeCause };

/** The object without its secrets: itself if it has none. */
function withoutSecrets<T extends object>(object: T): T {
  const found = Object.keys(object).filter((name) => secrets.has(name));
  if (found.length === 0) return object;
  return { ...object, ...Object.fromEntries(found.map((name) => [name, censor])) };
}

/** The fields of a line, without the secrets in their objects. */
function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  let redacted: Record<string, unknown> | undefined;
  for (const name in fields) {
    const value = fields[name];
    if (typeof value !== 'object' || value === null || Object.hasOwn(serializers, name)) continue;
    const safe = withoutSecrets(value);
    if (safe === value) continue;
    redacted ??= { ...fields };
    redacted[name] = safe;
  }
  return redacted ?? fields;
}

/** What a cause is: an error, or a word for it. */
function describeCause(cause: Error | string): object | string {
  return typeof cause === 'string' ? cause : describeError(cause);
}

/** An error in a log line. Its own code (SQLITE_FULL, ENOTFOUND) stands as `errorCode`: `code` is the name of a secret. */
function describeError(error: Error): object {
  const { code, ...described } = pino.stdSerializers.err(error);
  const named = typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code);
  return withoutSecrets(named ? { ...described, errorCode: code } : described);
}

/**
 * Cuts what others chose (a User-Agent, a client name) to a length that a log line can bear (T-195).
 * @param value any string, or undefined
 */
export function loggable(value: string | undefined): string | undefined {
  if (value === undefined || value.length <= maxLoggedLength) return value;
  return `${value.slice(0, maxLoggedLength)}… (${value.length} characters)`;
}

/** Returns the time as pino wants it in a line; lines of one millisecond share the text. */
function createClock(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/**
 * Standard error, written once a turn of the event loop: what many requests log in one turn leaves together. Nothing
 * waits longer, and what is there when the process exits goes out before.
 */
function openStandardError(): { write: (line: string) => void } {
  const standardError = pino.destination({ fd: 2, sync: true });
  let waiting = '';
  const flush = (): void => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') standardError.write(lines);
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (waiting === '') setImmediate(flush);
      waiting += line;
      if (waiting.length > maxWaitingLength) flush();
    },
  };
}

let openedStandardError: { write: (line: string) => void } | undefined;

/** All loggers share it, as they share the process. */
function standardErrorOfProcess(): { write: (line: string) => void } {
  openedStandardError ??= openStandardError();
  return openedStandardError;
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
      timestamp: createClock(),
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      serializers,
      redact: { paths: secretNames, censor },
    },
    write ? { write } : standardErrorOfProcess(),
  );
}
