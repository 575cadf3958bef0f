import { LineReader } from '../../collections/line-reader.ts';
import { type Logger, loggable } from '../../observability/logger.ts';

/** Options of the log of a backend's standard error. */
export interface ErrorOutputOptions {
  /** Name of the backend. */
  backend: string;
  /** Id of its process. */
  pid: number;
  /** Values that must not stand in the log (T-194). */
  secrets: readonly string[];
  logger: Pick<Logger, 'info'>;
  nowMs: () => number;
}

const maxLineBytes = 8192;

/** Most lines of one process that are logged in a window; what is beyond is counted (T-156). */
const maxLinesOfWindow = 200;
const windowMs = 10_000;

/**
 * Creates what writes a backend's standard error into our log, a line each: bounded in length and number, control
 * characters and secrets taken out (T-156, T-194, T-195).
 * @returns takes the next bytes
 */
export function createErrorOutput(options: ErrorOutputOptions): (chunk: Uint8Array) => void {
  const { backend, pid, logger, nowMs } = options;
  // One may begin as another does.
  const secrets = options.secrets.toSorted((one, other) => other.length - one.length);
  let windowEndsMs = 0;
  let lines = 0;
  let dropped = 0;

  const write = (text: string): void => {
    if (nowMs() >= windowEndsMs) {
      windowEndsMs = nowMs() + windowMs;
      lines = 0;
    }
    if (++lines > maxLinesOfWindow) {
      dropped++;
      return;
    }
    const more = dropped > 0 ? { droppedLines: dropped } : {};
    dropped = 0;
    logger.info({ backend, pid, line: loggable(text), ...more }, 'a backend wrote to its standard error');
  };
  const reader = new LineReader(maxLineBytes, {
    line(bytes) {
      const text = readable(new TextDecoder().decode(bytes), secrets);
      if (text !== '') write(text);
    },
    tooLong: () => write(`(a line longer than ${maxLineBytes} bytes)`),
  });
  return (chunk) => reader.push(chunk);
}

function readable(line: string, secrets: readonly string[]): string {
  let text = line;
  for (const secret of secrets) text = text.replaceAll(secret, '[redacted]');
  return text.trimEnd().replace(/\p{C}/gu, '\u{fffd}');
}
