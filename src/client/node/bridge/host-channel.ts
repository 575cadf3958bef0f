import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { jsonLine, parseExact } from '../../../collections/exact-json.ts';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';

/** What a host's messages are read from, and answers are written to. */
export interface HostStreams {
  stdin: Readable;
  stdout: Writable;
  /** Longest line, in bytes; 32 MiB unless told. */
  maxLineBytes?: number | undefined;
}

/** Who takes what a host says. */
export interface HostListener {
  /** A message of the host. */
  heard(message: JSONRPCMessage): void;
  /** The host says nothing more; what it asked may still be answered. */
  finished(): void;
  /** The host does not listen any more. */
  gone(): void;
}

const defaultMaxLineBytes = 32 * 1024 * 1024;
const lineFeed = 0x0a;

const parseError = {
  code: errorCodes.parseError,
  message: 'Parse error: a line has to be one JSON-RPC message.',
};
const tooLong = { code: errorCodes.invalidRequest, message: 'Invalid request: the line is too long.' };

/**
 * A host that speaks MCP over standard input and output: one JSON-RPC message a line. What is no message is answered
 * with an error, and the connection goes on. A batch of 2025-03-26 is taken as its messages, answered one by one.
 * @see MCP transports "stdio" (B1-03, B1-04)
 */
export class HostChannel {
  readonly #stdout: Writable;
  readonly #listener: HostListener;
  readonly #maxLineBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isSkipping = false;
  #isGone = false;

  /** Reads from now on. */
  constructor({ stdin, stdout, maxLineBytes = defaultMaxLineBytes }: HostStreams, listener: HostListener) {
    this.#stdout = stdout;
    this.#listener = listener;
    this.#maxLineBytes = maxLineBytes;
    const gone = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      listener.gone();
    };
    // A late EPIPE must not end the process with an uncaught error.
    stdout.on('error', gone);
    stdout.once('close', gone);
    stdin.on('error', gone);
    stdin.on('data', (chunk: Buffer | string) => this.#read(Buffer.from(chunk)));
    stdin.once('end', () => listener.finished());
  }

  /** Writes a message as one line: JSON escapes line breaks. */
  write(message: JSONRPCMessage): void {
    if (!this.#isGone) this.#stdout.write(jsonLine(message));
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      this.#hold(chunk.subarray(from, end));
      const line = Buffer.concat(this.#held).toString('utf8').trim();
      const skipped = this.#isSkipping;
      this.#forget();
      this.#isSkipping = false;
      if (!skipped && line !== '') this.#take(line);
      from = end + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  #hold(part: Buffer): void {
    if (this.#isSkipping || part.length === 0) return;
    this.#heldBytes += part.length;
    if (this.#heldBytes <= this.#maxLineBytes) {
      this.#held.push(part);
      return;
    }
    this.#forget();
    this.#isSkipping = true;
    this.write({ jsonrpc: '2.0', error: tooLong });
  }

  #forget(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  #take(line: string): void {
    try {
      const { value } = parseExact(line);
      const messages = (Array.isArray(value) ? value : [value]).map(parseJSONRPCMessage);
      for (const message of messages) this.#listener.heard(message);
    } catch {
      this.write({ jsonrpc: '2.0', error: parseError });
    }
  }
}
