import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { jsonLine, writtenNumbers } from '../../../collections/exact-json.ts';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';
import { readMessageLines } from '../message-lines.ts';

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

const parseError = {
  code: errorCodes.parseError,
  message: 'Parse error: a line has to be one JSON-RPC message.',
};
const tooLong = { code: errorCodes.invalidRequest, message: 'Invalid request: the line is too long.' };

/**
 * A host that speaks MCP over standard input and output: one JSON-RPC message a line. What is no message is answered
 * with an error, and the connection goes on. A batch of 2025-03-26 is taken as its messages, answered one by one. Numbers
 * that JavaScript would write otherwise are marked texts (FA-40).
 * @see MCP transports "stdio" (B1-03, B1-04)
 */
export class HostChannel {
  readonly #stdout: Writable;
  #isGone = false;

  /** Reads from now on. */
  constructor({ stdin, stdout, maxLineBytes }: HostStreams, listener: HostListener) {
    this.#stdout = stdout;
    const gone = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      listener.gone();
    };
    // A late EPIPE must not end the process with an uncaught error.
    stdout.on('error', gone);
    stdout.once('close', gone);
    stdin.on('error', gone);
    readMessageLines(stdin, {
      markedNumbers: 'all',
      maxLineBytes,
      heard: (message) => listener.heard(message),
      notMessage: () => this.write({ jsonrpc: '2.0', error: parseError }),
      tooLong: () => this.write({ jsonrpc: '2.0', error: tooLong }),
    });
    stdin.once('end', () => listener.finished());
  }

  /** Writes a message as one line: JSON escapes line breaks. */
  write(message: JSONRPCMessage): void {
    if (!this.#isGone) this.#stdout.write(writtenNumbers(jsonLine(message)));
  }
}
