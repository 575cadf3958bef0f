import type { ChildProcess, spawn as spawnProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { jsonLine, unmarkedJson } from '../../collections/exact-json.ts';
import { LineReader } from '../../collections/line-reader.ts';
import { ClientError } from '../client-error.ts';
import { type MarkedNumbers, markMessage } from '../transports/exact-numbers.ts';

/** Finds programs on Windows as a shell does; it has no types of its own, and is `spawn` everywhere else. */
const spawn = createRequire(import.meta.url)('cross-spawn') as typeof spawnProcess;

/** A program to start, and how its messages are read. */
export interface CommandTransportOptions {
  /** The program, and its arguments; no shell reads them. */
  command: readonly string[];
  /** Its whole environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** See `ServerTransportOptions`. */
  markedNumbers?: MarkedNumbers | undefined;
}

/** Longest wait for a program to end after its input has ended, and again after a signal, in milliseconds. */
const patienceMs = 2_000;

/**
 * A program on this machine, spoken to over its standard input and output. The SDK's own transport does not read the
 * batches of 2025-03-26 (FA-30).
 * @see MCP transports "stdio" (B1-03, B1-04, B1-05)
 */
export class CommandTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #options: CommandTransportOptions;
  #child: ChildProcess | undefined;

  /** @param options the program */
  constructor(options: CommandTransportOptions) {
    this.#options = options;
  }

  /** The id of the process; null while there is none. By this and {@link stderr} the SDK knows a program from a URL. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Null: what the program writes to standard error goes to ours. */
  get stderr(): null {
    return null;
  }

  /** Starts the program. @throws what starting it throws: an error with the code `ENOENT`, say */
  async start(): Promise<void> {
    const { command, env, markedNumbers } = this.#options;
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      env: { ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
      shell: false,
      windowsHide: true,
    });
    this.#child = child;
    child.once('close', () => {
      this.#child = undefined;
      this.onclose?.();
    });
    child.stdin?.on('error', (error) => this.onerror?.(error));
    if (child.stdout)
      readMessageLines(child.stdout, {
        markedNumbers,
        heard: (message) => this.onmessage?.(message),
        notMessage: (error) => this.onerror?.(error as Error),
        tooLong: () => this.onerror?.(new ClientError('server_error', 'The server wrote too long a line.')),
      });
    await once(child, 'spawn');
    child.on('error', (error) => this.onerror?.(error));
  }

  /** Writes a message as one line. @throws ClientError `unreachable` if the program has ended */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin) throw new ClientError('unreachable', 'The program has ended.');
    const isTaken = stdin.write(unmarkedJson(jsonLine(message)));
    if (!isTaken) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]);
  }

  /** Ends the input of the program, and the program itself if that does not end it. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const ended = once(child, 'close');
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const { promise: late, resolve } = Promise.withResolvers<'late'>();
      const timer = setTimeout(resolve, patienceMs, 'late');
      const outcome = await Promise.race([ended, late]);
      clearTimeout(timer);
      if (outcome !== 'late') return;
      child.kill(signal);
    }
    // A program of its own may hold its output open.
    child.stdout?.destroy();
  }
}

/** Longest line of messages by default, in bytes. */
const defaultMaxLineBytes = 32 * 1024 * 1024;

/** Takes the lines that are read. */
export interface MessageLineReader {
  /** Numbers that stay marked. */
  markedNumbers?: MarkedNumbers | undefined;
  /** Longest line, in bytes; 32 MiB by default. */
  maxLineBytes?: number | undefined;
  /** Takes a message; those of one batch one after the other. */
  heard(message: JSONRPCMessage): void;
  /** The line is JSON of no JSON-RPC message, or no JSON. */
  notMessage(error: unknown): void;
  /** The line is too long, and is skipped. */
  tooLong(): void;
}

/**
 * Reads JSON-RPC messages from a stream, one line at a time. A batch of 2025-03-26 is read as its messages.
 * @see MCP transports "stdio" (B1-03, B1-04)
 */
export function readMessageLines(from: Readable, reader: MessageLineReader): void {
  const { markedNumbers, maxLineBytes = defaultMaxLineBytes } = reader;
  const take = (line: string): void => {
    let messages: JSONRPCMessage[];
    try {
      const value: unknown = JSON.parse(markedNumbers ? markMessage(line, markedNumbers) : line);
      messages = (Array.isArray(value) ? value : [value]).map(parseJSONRPCMessage);
    } catch (error) {
      reader.notMessage(error);
      return;
    }
    for (const message of messages) reader.heard(message);
  };
  const lines = new LineReader(maxLineBytes, {
    line(bytes) {
      const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').trim();
      if (line !== '') take(line);
    },
    tooLong: () => reader.tooLong(),
  });
  from.on('data', (data: Buffer | string) => lines.push(Buffer.from(data)));
}
