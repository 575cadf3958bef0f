import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { jsonLine } from '../../collections/exact-json.ts';
import { LineReader } from '../../collections/line-reader.ts';
import {
  HeldBytes,
  type IncomingBytes,
  smallBytes,
  withoutByteOrderMark,
} from '../../mcp/building-blocks.ts';
import type { Logger } from '../../observability/logger.ts';
import { createErrorOutput } from './error-output.ts';
import { defaultMaxAnswerValues } from './failure-of-answer.ts';
import { endGroup, type Patience } from './process-group.ts';
import type { Watchdog } from './watchdog.ts';

/** Options of a process, whatever its protocol. */
export interface StdioProcessOptions {
  /** Name of the backend. */
  name: string;
  command: string;
  args: readonly string[];
  /** The whole environment of the process. */
  env: Readonly<Record<string, string>>;
  /** The folder it works in; ours by default. */
  folder?: string;
  /** Values that must not stand in the log. */
  secrets: readonly string[];
  /** Longest line it may write, and most that may wait to be read by it, in bytes. */
  maxLineBytes: number;
  /** Most values in a line; a default by default. */
  maxLineValues?: number | undefined;
  /** Counts the bytes of lines while they are read; those of this process alone by default. */
  held?: HeldBytes;
  patience: Patience;
  watchdog: Watchdog;
  logger: Logger;
  nowMs: () => number;
}

/** Takes what comes of a process. Nothing comes any more once it is being ended. */
export interface ProcessListener {
  /** Takes a line of its standard output, without its line feed. */
  line(bytes: Uint8Array): void;
  /** It wrote a line that is too long, which is skipped. */
  tooLong(): void;
  /** It could not be started, or ended by itself; called once, after its last line. */
  gone(): void;
}

/** Milliseconds that the output of an ended process may take to arrive. */
const lastWordsMs = 200;

/** Longest line that may be a header of a message, in bytes. */
const maxHeaderBytes = 100;
const framingHeader = /^content-(?:length: *\d+|type: *[\x21-\x7e ]+)$/i;
const framed =
  'a backend puts Content-Length headers before its messages, as language servers do: MCP has one message on each line';

const nobody: ProcessListener = { line() {}, tooLong() {}, gone() {} };

/**
 * A program in a process group of its own: lines in, lines out, standard error into the log, and an end of the whole
 * group. It knows nothing of MCP.
 * @see MCP 2025-11-25 transports "stdio"
 */
export class StdioProcess {
  /** Takes what comes; may be another from one owner to the next. */
  listener: ProcessListener = nobody;
  /** The account whose answers it writes, see `accountKeyPrefix`; empty if several accounts share it. */
  account = '';
  readonly #options: StdioProcessOptions;
  readonly #held: HeldBytes;
  readonly #child: ChildProcessWithoutNullStreams | undefined;
  /** Lines for the next write: those of one turn of the event loop go in one. */
  #unwritten = '';
  /** Stops of the reading of its output that have not ended. */
  readonly #stops = new Set<object>();
  #ending: Promise<void> | undefined;
  #isGone = false;
  #hasWrittenErrors = false;
  #isFramed = false;
  /** True if the last line was a header of a message. */
  #wasHeader = false;

  /** Starts it. If that fails, the listener is told later, and the log has the reason. */
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

  /** True if it could not be started, has ended, or is being ended. */
  get isGone(): boolean {
    return this.#isGone || this.#ending !== undefined;
  }

  /** True if it puts headers before its messages, as language servers do. */
  get isFramed(): boolean {
    return this.#isFramed;
  }

  /** Most values in a line that are read. */
  get maxLineValues(): number {
    return this.#options.maxLineValues ?? defaultMaxAnswerValues;
  }

  /** True if it has written anything to its standard error. */
  get hasWrittenErrors(): boolean {
    return this.#hasWrittenErrors;
  }

  /** True if it has more to read than may wait for it. */
  get isStuck(): boolean {
    const waiting = (this.#child?.stdin.writableLength ?? 0) + this.#unwritten.length;
    return waiting > this.#options.maxLineBytes;
  }

  /** Writes one message as one line: JSON escapes line breaks. */
  write(message: unknown): void {
    if (this.#unwritten === '') setImmediate(() => this.#flush());
    this.#unwritten += jsonLine(message);
  }

  /** Reads nothing more of its output for some milliseconds; a program that writes on has to wait. */
  pauseReading(forMs: number): void {
    if (this.#child?.stdout.isPaused() === false) setTimeout(this.#stopReading(), forMs);
  }

  /** Ends the whole group; resolves when it has ended. */
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

  /** Reads nothing more of its output. @returns reads on, unless somebody else has stopped it, too */
  #stopReading(): () => void {
    const stop = {};
    const { stdout } = this.#child ?? {};
    this.#stops.add(stop);
    stdout?.pause();
    return () => {
      if (this.#stops.delete(stop) && this.#stops.size === 0) stdout?.resume();
    };
  }

  /** Begins to count a line. Without room for it the program waits; in the end the line is read, and its answer refused. */
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
