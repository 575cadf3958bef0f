import type { Readable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { type MarkedNumbers, markMessage } from '../transports/exact-numbers.ts';

/** Longest line of messages by default, in bytes. */
const defaultMaxLineBytes = 32 * 1024 * 1024;
const lineFeed = 0x0a;

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
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isSkipping = false;

  const forget = (): void => {
    held = [];
    heldBytes = 0;
  };
  const hold = (part: Buffer): void => {
    if (isSkipping || part.length === 0) return;
    heldBytes += part.length;
    if (heldBytes <= maxLineBytes) {
      held.push(part);
      return;
    }
    forget();
    isSkipping = true;
    reader.tooLong();
  };
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
  from.on('data', (data: Buffer | string) => {
    const chunk = Buffer.from(data);
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      hold(chunk.subarray(start, end));
      const line = Buffer.concat(held).toString('utf8').trim();
      const skipped = isSkipping;
      forget();
      isSkipping = false;
      if (!skipped && line !== '') take(line);
      start = end + 1;
    }
    hold(chunk.subarray(start));
  });
}
