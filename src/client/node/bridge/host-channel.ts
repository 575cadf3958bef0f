import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolError,
  type RequestId,
  type Result,
} from '@modelcontextprotocol/client';
import { jsonLine, unmarkedJson } from '../../../collections/exact-json.ts';
import { errorCodes } from '../../../oauth/mcp-error-codes.ts';
import { readMessageLines } from '../command-transport.ts';
import type { HostSide } from './relay.ts';

/** Streams from and to a host. */
export interface HostStreams {
  stdin: Readable;
  stdout: Writable;
  /** Maximum length of a line, in bytes (default 32 MiB). */
  maxLineBytes?: number | undefined;
}

/** Callbacks of a {@link HostChannel}. */
export interface HostListener {
  /** The host sent a message. */
  heard(message: JSONRPCMessage): void;
  /** The host has closed its output; open requests may still be answered. */
  finished(): void;
  /** The host no longer reads. */
  gone(): void;
}

const parseError = {
  code: errorCodes.parseError,
  message: 'Parse error: a line has to be one JSON-RPC message.',
};
const tooLong = { code: errorCodes.invalidRequest, message: 'Invalid request: the line is too long.' };

/**
 * A host that speaks MCP over standard input and output: one JSON-RPC message a line. An invalid line gets an error
 * response, and the connection stays open. A batch of 2025-03-26 is split into its messages, which get separate
 * responses. Numbers that JavaScript would write otherwise are marked texts (FA-40).
 * @see MCP transports "stdio" (B1-03, B1-04)
 */
export class HostChannel {
  readonly #stdout: Writable;
  #isGone = false;

  /** Starts to read. */
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
    if (!this.#isGone) this.#stdout.write(unmarkedJson(jsonLine(message)));
  }
}

/** Requests to a host on behalf of a server, with ids of the bridge's own. */
export class HostQuestions {
  readonly #host: Pick<HostSide, 'write'>;
  readonly #waiting = new Map<RequestId, (answer: JSONRPCMessage) => void>();
  #asked = 0;

  /** @param host the host; its responses have to be passed to {@link take} */
  constructor(host: Pick<HostSide, 'write'>) {
    this.#host = host;
  }

  /**
   * Sends a request to the host, and waits without a limit: a person may have to respond.
   * @throws ProtocolError the host's error response
   */
  async ask(method: string, params?: object): Promise<Result> {
    const id = `gatehouse-${++this.#asked}`;
    const { promise, resolve } = Promise.withResolvers<JSONRPCMessage>();
    this.#waiting.set(id, resolve);
    this.#host.write({
      jsonrpc: '2.0',
      id,
      method,
      ...(params && { params: params as Record<string, unknown> }),
    });
    const answer = await promise;
    this.#waiting.delete(id);
    if (isJSONRPCErrorResponse(answer))
      throw ProtocolError.fromError(answer.error.code, answer.error.message, answer.error.data);
    return isJSONRPCResultResponse(answer) ? answer.result : {};
  }

  /** Takes a response of the host; an unexpected one is ignored. */
  take(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#waiting.get(message.id)?.(message);
  }
}
