import { type Logger as PinoLogger, pino } from 'pino';
import { traceOfLogLine } from './trace-context.ts';

/** A structured logger: one JSON line per call. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;

/** Log levels; `silent` writes nothing. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** Maximum buffered log text per turn, in characters; more is written at once. */
const maxWaitingLength = 65_536;

/**
 * Names whose values are never logged, in any object (T-194), two levels deep: our own calls log flat objects. pino
 * redacts the first level; its wildcards for the second one would cost more than the rest of a line.
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

/** Replaces a secret. */
const censor = '[redacted]';

const secrets: ReadonlySet<string> = new Set(secretNames);

/** Redact errors themselves, once their logged fields are known. */
const serializers = { err: describeError, cause: describeCause };

/** Returns the object without its secrets: itself if it has none. */
function withoutSecrets<T extends object>(object: T): T {
  const found = Object.keys(object).filter((name) => secrets.has(name));
  if (found.length === 0) return object;
  return { ...object, ...Object.fromEntries(found.map((name) => [name, censor])) };
}

/** Returns the fields of a line without the secrets in nested objects. */
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

/** Returns the loggable form of a cause: an error, or a text. */
function describeCause(cause: Error | string): object | string {
  return typeof cause === 'string' ? cause : describeError(cause);
}

/**
 * Returns the loggable form of an error. Its code (SQLITE_FULL, ENOTFOUND) is logged as `errorCode`: `code` is the name
 * of a secret.
 */
function describeError(error: Error): object {
  const { code, ...described } = pino.stdSerializers.err(error);
  // PostgreSQL quotes the values of a row in them.
  for (const name of ['detail', 'where', 'hint', 'internalQuery']) delete described[name];
  const named = typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code);
  return withoutSecrets(named ? { ...described, errorCode: code } : described);
}

/** Returns the time in pino's format, cached per millisecond. */
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

/** Opens standard error, written once per turn of the event loop for all requests, and at exit. */
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

/** Reads a line of the log as it is printed. */
type ReadLine = (line: string) => void;

/** Readers of each logger, beside its output. */
const readersOf = new WeakMap<Pick<Logger, 'info'>, Set<ReadLine>>();

/**
 * Reads each line of a logger from now on, as it is printed: secrets are redacted already. If several read the lines of
 * one logger, the first gets them, so that no line is sent twice. Only a logger of {@link createLogger} has lines.
 * @returns a function that stops the reading
 */
export function readLines(logger: Pick<Logger, 'info'>, read: ReadLine): () => void {
  const readers = readersOf.get(logger);
  readers?.add(read);
  return () => void readers?.delete(read);
}

let openedStandardError: { write: (line: string) => void } | undefined;

/** Shared by all loggers of the process. */
function standardErrorOfProcess(): { write: (line: string) => void } {
  openedStandardError ??= openStandardError();
  return openedStandardError;
}

/**
 * Creates the logger: JSON lines on standard error, secrets redacted by name. It uses pino, the most used structured
 * logger on Node, which escapes its input and redacts by path.
 * @param level minimum level
 * @param write output; default: standard error
 */
export function createLogger(level: LogLevel, write?: (line: string) => void): Logger {
  const output = write ? { write } : standardErrorOfProcess();
  const readers = new Set<ReadLine>();
  const logger = pino(
    {
      level,
      base: null,
      timestamp: createClock(),
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      serializers,
      mixin: traceOfLogLine,
      redact: { paths: secretNames, censor },
    },
    {
      write(line: string) {
        output.write(line);
        if (readers.size === 0) return;
        const [read] = readers;
        read?.(line);
      },
    },
  );
  readersOf.set(logger, readers);
  return logger;
}
