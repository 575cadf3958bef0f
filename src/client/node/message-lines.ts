import type { Readable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { LineReader } from '../../collections/line-reader.ts';
import { type MarkedNumbers, markMessage } from '../transports/exact-numbers.ts';

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
