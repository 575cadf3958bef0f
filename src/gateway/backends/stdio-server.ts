import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import type { Message } from '../../mcp/checks/messages.ts';
import type { JsonRpcError } from '../../mcp/conversations/conversation.ts';
import { isRefusal } from '../../mcp/refusal.ts';
import type { McpLike } from '../../mcp/server-source.ts';
import { LineReader } from '../../mcp/stdio/line-reader.ts';
import { readLine } from '../../mcp/stdio/read-line.ts';
import type { Logger } from '../../observability/logger.ts';
import { type BackendFailure, backendError } from './backend-errors.ts';
import { createErrorOutput } from './error-output.ts';
import type { Failures } from './failures.ts';
import type { Occupant, Places } from './places.ts';
import { endGroup, type Patience } from './process-group.ts';
import type { Watchdog } from './watchdog.ts';
import { withoutCallerAuth } from './without-caller-auth.ts';

/** What a process of a backend is started with. */
export interface StdioServerOptions {
  /** What the backend is called. */
  name: string;
  command: string;
  args: readonly string[];
  /** The whole environment of the process. */
  env: Readonly<Record<string, string>>;
  /** Values that must not stand in the log. */
  secrets: readonly string[];
  /** Longest line it may write, and most that may wait to be read by it, in bytes. */
  maxLineBytes: number;
  /** How long it may take to answer `initialize`, in milliseconds. */
  startMs: number;
  patience: Patience;
  failures: Failures;
  places: Places;
  watchdog: Watchdog;
  logger: Logger;
  nowMs: () => number;
}

/** How long what a process wrote before it ended may take to arrive, in milliseconds. */
const lastWordsMs = 200;

/** Lines that are no messages, of which no more than these are told in the log. */
const maxToldLines = 5;

/**
 * An MCP server in a process of its own: started when it is connected, ended with its whole process group. Whatever
 * goes wrong is an answer to the calls that run, at once (T-155, T-156).
 * @see MCP 2025-11-25 transports "stdio"
 */
export class StdioServer implements McpLike, Occupant {
  readonly account: string;
  readonly #options: StdioServerOptions;
  /** Requests it has not answered, with their methods. */
  readonly #waiting = new Map<RequestId, string>();
  #transport: Transport | undefined;
  #child: ChildProcessWithoutNullStreams | undefined;
  #startTimer: NodeJS.Timeout | undefined;
  #usedAtMs: number;
  #toldLines = 0;
  /** Why it takes nothing any more. */
  #refusal: JsonRpcError | undefined;
  #ending: Promise<void> | undefined;

  /** @param account whose process it is */
  constructor(account: string, options: StdioServerOptions) {
    this.account = account;
    this.#options = options;
    this.#usedAtMs = options.nowMs();
  }

  get idleSinceMs(): number | undefined {
    return this.#waiting.size > 0 ? undefined : this.#usedAtMs;
  }

  async connect(transport: Transport): Promise<void> {
    this.#transport = transport;
    transport.onmessage = (message) => this.#take(message as Message);
    await transport.start();
    this.#refusal = this.#options.places.take(this);
    if (!this.#refusal) this.#start();
  }

  giveWay(): void {
    this.#options.logger.info(
      { backend: this.#options.name, pid: this.#child?.pid },
      'an idle backend gave way',
    );
    void this.close();
  }

  async close(): Promise<void> {
    this.#ending ??= this.#end();
    await this.#ending;
  }

  #start(): void {
    const { name, command, args, env, logger, nowMs, secrets, startMs } = this.#options;
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(command, args, { env, stdio: 'pipe', detached: true, shell: false });
    } catch (error) {
      // An argument or a variable that no process can be given.
      this.#notStarted(error as Error);
      return;
    }
    this.#child = child;
    child.once('error', (error) => this.#notStarted(error));
    child.stdin.on('error', () => undefined);
    const { pid } = child;
    if (pid === undefined) return;
    this.#options.watchdog.begun(pid);
    logger.info({ backend: name, pid }, 'a backend was started');
    const reader = new LineReader(this.#options.maxLineBytes, {
      line: (bytes) => this.#hear(bytes),
      tooLong: () => this.#heardTooMuch(),
    });
    child.stdout.on('data', (chunk: Buffer) => reader.push(chunk));
    child.stderr.on('data', createErrorOutput({ backend: name, pid, secrets, logger, nowMs }));
    child.once('exit', (code, signal) => void this.#exited(child, code, signal));
    this.#startTimer = setTimeout(() => {
      logger.warn({ backend: name, pid, startMs }, 'a backend did not answer initialize in time');
      void this.#fail('backend_start_timed_out');
    }, startMs);
    this.#startTimer.unref();
  }

  #notStarted(error: Error): void {
    const { name, command, logger } = this.#options;
    logger.error({ err: error, backend: name, command }, 'a backend could not be started');
    // Who connects hears of it as the answer to initialize, which comes after.
    setImmediate(() => void this.#fail('backend_not_started'));
  }

  async #exited(
    child: ChildProcessWithoutNullStreams,
    code: number | null,
    signal: string | null,
  ): Promise<void> {
    if (this.#ending) return;
    // What it wrote last may still be on its way; a grandchild that keeps the pipe open is not waited for.
    await Promise.race([once(child, 'close'), new Promise((resolve) => setTimeout(resolve, lastWordsMs))]);
    if (this.#ending) return;
    const { name, logger } = this.#options;
    const wasStarting = this.#startTimer !== undefined;
    logger.warn({ backend: name, pid: child.pid, exitCode: code, signal }, 'a backend ended by itself');
    await this.#fail(wasStarting ? 'backend_not_started' : 'backend_ended');
  }

  /** Answers what runs, and what still comes, with an error; ends the process. */
  async #fail(failure: BackendFailure): Promise<void> {
    this.#options.failures.note(failure);
    this.#refusal ??= backendError(failure, this.#options.name);
    for (const id of [...this.#waiting.keys()]) this.#answerWith(id, this.#refusal);
    await this.close();
  }

  async #end(): Promise<void> {
    const { places, watchdog, patience } = this.#options;
    clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
    places.leave(this);
    const child = this.#child;
    child?.stdin.end();
    await this.#transport?.close();
    if (child?.pid === undefined) return;
    await endGroup(child.pid, patience);
    watchdog.ended(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  }

  /** Takes a message of the front. */
  #take(message: Message): void {
    this.#usedAtMs = this.#options.nowMs();
    const isRequest = message.method !== undefined && message.id !== undefined;
    if (isRequest) this.#waiting.set(message.id as RequestId, message.method as string);
    if (message.method === 'notifications/cancelled')
      this.#waiting.delete(message.params?.requestId as RequestId);
    const refusal = this.#refusal ?? this.#checkReading();
    if (!refusal) this.#child?.stdin.write(`${JSON.stringify(withoutCallerAuth(message))}\n`);
    // Later, as the server would answer: who asks hears nothing before it has asked.
    else if (isRequest) queueMicrotask(() => this.#answerWith(message.id as RequestId, refusal));
  }

  #checkReading(): JsonRpcError | undefined {
    const { maxLineBytes, name } = this.#options;
    const isStuck = (this.#child?.stdin.writableLength ?? 0) > maxLineBytes;
    return isStuck ? backendError('backend_not_reading', name) : undefined;
  }

  #answerWith(id: RequestId, error: JsonRpcError): void {
    if (!this.#waiting.delete(id)) return;
    void this.#transport?.send({ jsonrpc: '2.0', id, error } as JSONRPCMessage);
  }

  /** Takes a line of the process. */
  #hear(bytes: Uint8Array): void {
    if (this.#ending) return;
    this.#usedAtMs = this.#options.nowMs();
    const messages = readLine(bytes);
    if (messages === undefined) return;
    if (!isRefusal(messages)) {
      for (const message of messages.list) this.#pass(message);
      return;
    }
    const { name, logger } = this.#options;
    if (++this.#toldLines <= maxToldLines)
      logger.warn(
        { backend: name, pid: this.#child?.pid, reason: messages.reason, bytes: bytes.length },
        'a backend wrote a line to its standard output that is no MCP message',
      );
    if (messages.id !== undefined)
      this.#answerWith(messages.id, backendError('backend_answer_unreadable', name));
  }

  #pass(message: Message): void {
    if (message.method === undefined && message.id !== undefined) {
      if (this.#waiting.get(message.id) === 'initialize') {
        clearTimeout(this.#startTimer);
        this.#startTimer = undefined;
        this.#options.failures.mended();
      }
      this.#waiting.delete(message.id);
    }
    void this.#transport?.send(message as JSONRPCMessage);
  }

  /** It cannot be known whose answer the line was, so nobody waits for one any more; the process goes on. */
  #heardTooMuch(): void {
    const { name, logger, maxLineBytes } = this.#options;
    logger.warn(
      { backend: name, pid: this.#child?.pid, maxLineBytes },
      'a backend wrote a line that is too long',
    );
    const error = backendError('backend_answer_too_large', name);
    for (const id of [...this.#waiting.keys()]) this.#answerWith(id, error);
  }
}
