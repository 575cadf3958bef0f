import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { jsonLine } from '../../../collections/exact-json.ts';
import { LineReader } from '../../../collections/line-reader.ts';
import {
  HeldBytes,
  type IncomingBytes,
  smallBytes,
  withoutByteOrderMark,
} from '../../../mcp/building-blocks.ts';
import { loggable } from '../../../observability/loggable.ts';
import type { Logger } from '../../../observability/logger.ts';
import { defaultMaxAnswerValues } from '../backend-errors.ts';
import { endGroup, type Patience, type Watchdog } from './process-groups.ts';

/** Options of a process, whatever its protocol. */
export interface StdioProcessOptions {
  /** Name of the backend. */
  name: string;
  command: string;
  args: readonly string[];
  /** The complete environment of the process. */
  env: Readonly<Record<string, string>>;
  /** Working folder; that of Gatehouse by default. */
  folder?: string;
  /** Values that are redacted in the log. */
  secrets: readonly string[];
  /** Maximum length of a line of output, and maximum size of the input that waits to be read, in bytes. */
  maxLineBytes: number;
  /** Maximum number of values in a line; `defaultMaxAnswerValues` by default. */
  maxLineValues?: number | undefined;
  /** Counts the bytes of lines while they are read; a counter of its own by default. */
  held?: HeldBytes;
  patience: Patience;
  watchdog: Watchdog;
  logger: Logger;
  nowMs: () => number;
}

/** Receives the output of a process. Nothing is reported any more after `end` was called. */
export interface ProcessListener {
  /** Receives a line of the standard output, without its line feed. */
  line(bytes: Uint8Array): void;
  /** The process wrote a line that is too long, which is skipped. */
  tooLong(): void;
  /** The process could not be started, or ended by itself. Called once, after its last line. */
  gone(): void;
}

/** Maximum time for the last output of an ended process to arrive, in milliseconds. */
const lastWordsMs = 200;

/** Maximum length of a line that may be a message header, in bytes. */
const maxHeaderBytes = 100;
const framingHeader = /^content-(?:length: *\d+|type: *[\x21-\x7e ]+)$/i;
const framed =
  'a backend puts Content-Length headers before its messages, as language servers do: MCP has one message on each line';

const nobody: ProcessListener = { line() {}, tooLong() {}, gone() {} };

/**
 * A process in its own process group: it reads and writes lines, its standard error goes to the log, and its whole
 * group is ended. It knows nothing of MCP.
 * @see MCP 2025-11-25 transports "stdio"
 */
export class StdioProcess {
  /** Receives the output; replaced when the process is handed over. */
  listener: ProcessListener = nobody;
  /** Account of the current responses, see `accountKeyPrefix`; empty if several accounts share the process. */
  account = '';
  readonly #options: StdioProcessOptions;
  readonly #held: HeldBytes;
  readonly #child: ChildProcessWithoutNullStreams | undefined;
  /** Lines for the next write: all lines of one turn of the event loop are written together. */
  #unwritten = '';
  /** Pauses of the output that have not ended. */
  readonly #stops = new Set<object>();
  #ending: Promise<void> | undefined;
  #isGone = false;
  #hasWrittenErrors = false;
  #isFramed = false;
  /** True if the last line was a message header. */
  #wasHeader = false;

  /** Starts the process. If that fails, the reason is logged, and the listener is called later. */
  constructor(options: StdioProcessOptions) {
    this.#options = options;
    this.#held = options.held ?? new HeldBytes();
    const { command, args, env, folder } = options;
    try {
      this.#child = spawn(command, args, {
        env,
        ...(folder === undefined ? {} : { cwd: folder }),
        stdio: 'pipe',
        detached: true,
        shell: false,
      });
      this.#watch(this.#child);
    } catch (error) {
      // An argument or a variable that no process can be given.
      setImmediate(() => this.#notStarted(error as Error));
    }
  }

  /** Id of the process and of its group; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** True if the process could not be started, has ended, or is being ended. */
  get isGone(): boolean {
    return this.#isGone || this.#ending !== undefined;
  }

  /** True if the process writes headers before its messages, like a language server. */
  get isFramed(): boolean {
    return this.#isFramed;
  }

  /** Maximum number of values in a line. */
  get maxLineValues(): number {
    return this.#options.maxLineValues ?? defaultMaxAnswerValues;
  }

  /** True if the process has written to its standard error. */
  get hasWrittenErrors(): boolean {
    return this.#hasWrittenErrors;
  }

  /** True if more input waits for the process than may wait. */
  get isStuck(): boolean {
    const waiting = (this.#child?.stdin.writableLength ?? 0) + this.#unwritten.length;
    return waiting > this.#options.maxLineBytes;
  }

  /** Writes one message as one line: JSON escapes line breaks. */
  write(message: unknown): void {
    if (this.#unwritten === '') setImmediate(() => this.#flush());
    this.#unwritten += jsonLine(message);
  }

  /** Pauses the output for some milliseconds: a program that writes more has to wait. */
  pauseReading(forMs: number): void {
    if (this.#child?.stdout.isPaused() === false) setTimeout(this.#stopReading(), forMs);
  }

  /** Ends the whole process group; resolves when it has ended. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  #watch(child: ChildProcessWithoutNullStreams): void {
    const { name, logger, nowMs, secrets, maxLineBytes, watchdog } = this.#options;
    child.once('error', (error) => this.#notStarted(error));
    child.stdin.on('error', () => undefined);
    const { pid } = child;
    if (pid === undefined) return;
    watchdog.begun(pid);
    logger.info({ backend: name, pid }, 'a backend was started');
    const reader = new LineReader(maxLineBytes, {
      line: (bytes) => {
        this.#lookForFraming(bytes);
        if (!this.#ending) this.listener.line(withoutByteOrderMark(bytes));
      },
      tooLong: () => {
        logger.warn({ backend: name, pid, maxLineBytes }, 'a backend wrote a line that is too long');
        if (!this.#ending) this.listener.tooLong();
      },
    });
    let bytes: IncomingBytes | undefined;
    child.stdout.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      if (reader.heldBytes > smallBytes) {
        bytes ??= this.#hold();
        bytes.set(reader.heldBytes);
      } else {
        bytes?.end();
        bytes = undefined;
      }
    });
    child.stdout.once('close', () => bytes?.end());
    const writeErrors = createErrorOutput({ backend: name, pid, secrets, logger, nowMs });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#hasWrittenErrors = true;
      writeErrors(chunk);
    });
    child.once('exit', (code, signal) => void this.#exited(child, code, signal));
  }

  #lookForFraming(line: Uint8Array): void {
    const text = line.length <= maxHeaderBytes ? Buffer.from(line).toString('latin1').trimEnd() : undefined;
    if (text === '' && this.#wasHeader) {
      if (!this.#isFramed) {
        const { name, logger } = this.#options;
        logger.error({ backend: name, pid: this.pid }, framed);
      }
      this.#isFramed = true;
    }
    this.#wasHeader = text !== undefined && framingHeader.test(text);
  }

  /**
   * Pauses the output.
   * @returns resumes it, unless another pause has not ended
   */
  #stopReading(): () => void {
    const stop = {};
    const { stdout } = this.#child ?? {};
    this.#stops.add(stop);
    stdout?.pause();
    return () => {
      if (this.#stops.delete(stop) && this.#stops.size === 0) stdout?.resume();
    };
  }

  /**
   * Begins to count a line. If there is no room for it, the program waits; in the end the line is read, and its
   * response rejected.
   */
  #hold(): IncomingBytes {
    let readOn: (() => void) | undefined;
    const resume = (): void => {
      readOn?.();
      readOn = undefined;
    };
    return this.#held.incoming(this.account, {
      pause: () => {
        readOn ??= this.#stopReading();
      },
      resume,
      giveUp: resume,
    });
  }

  #notStarted(error: Error): void {
    const { name, command, logger } = this.#options;
    logger.error({ err: error, backend: name, command }, 'a backend could not be started');
    this.#tellGone();
  }

  async #exited(
    child: ChildProcessWithoutNullStreams,
    exitCode: number | null,
    signal: string | null,
  ): Promise<void> {
    if (this.#ending) return;
    // What it wrote last may still be on its way; a grandchild that keeps the pipe open is not waited for.
    await Promise.race([once(child, 'close'), new Promise((resolve) => setTimeout(resolve, lastWordsMs))]);
    if (this.#ending) return;
    const { name, logger } = this.#options;
    logger.warn({ backend: name, pid: child.pid, exitCode, signal }, 'a backend ended by itself');
    this.#tellGone();
  }

  #tellGone(): void {
    if (this.isGone) return;
    this.#isGone = true;
    this.listener.gone();
  }

  #flush(): void {
    const lines = this.#unwritten;
    this.#unwritten = '';
    const { stdin } = this.#child ?? {};
    if (stdin?.writable) stdin.write(lines);
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    if (this.#unwritten !== '') this.#flush();
    child.stdin.end();
    if (child.pid === undefined) return;
    await endGroup(child.pid, this.#options.patience);
    this.#options.watchdog.ended(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Options of the log of standard error. */
interface ErrorOutputOptions {
  /** Name of the backend. */
  backend: string;
  /** Id of its process. */
  pid: number;
  /** Values that are redacted (T-194). */
  secrets: readonly string[];
  logger: Pick<Logger, 'info'>;
  nowMs: () => number;
}

const maxLineBytes = 8192;

/** Maximum number of logged lines of a process in a window; further lines are counted (T-156). */
const maxLinesOfWindow = 200;
const windowMs = 10_000;

/**
 * Creates a log of standard error with one entry for each line. Length and number are limited, and control characters
 * and secrets are removed (T-156, T-194, T-195).
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
