import type { RequestId } from '@modelcontextprotocol/server';
import { type ExactJson, isId } from '../../collections/exact-json.ts';
import { isRefusal, type Refusal } from '../http/refusal.ts';
import { type Frames, readFramesOfServer } from '../protocol.ts';
import { outerId, parseJson } from './json.ts';
import { type Messages, readMessages, withPlainContent } from './messages.ts';

/**
 * Reads one line of a client as a JSON-RPC message, or a batch of them.
 * @param isRelayed true if the messages go to servers in other processes, which get numbers as they were written (FA-40)
 * @returns undefined for a blank line; a refusal names the id of the message if it can be found
 * @see MCP transports "stdio"; JSON-RPC 2.0 sections 4 and 5 (B1-01, B1-03, T-150)
 */
export function readLine(line: Uint8Array, isRelayed: boolean): Messages | Refusal | undefined {
  const read = ({ value, hasExactNumbers }: ExactJson) =>
    readMessages(hasExactNumbers && !isRelayed ? withPlainContent(value) : value);
  return readLineWith(read, line);
}

function readLineWith<Read>(
  read: (json: ExactJson) => Read | Refusal,
  line: Uint8Array,
  maxValues?: number,
): Read | Refusal | undefined {
  if (line.every(isBlank)) return undefined;
  const json = parseJson(line, maxValues);
  if (isRefusal(json)) {
    const id = outerId(line);
    return id === undefined ? json : { ...json, id };
  }
  const messages = read(json);
  if (!isRefusal(messages)) return messages;
  const id = idOf(json.value);
  return id === undefined ? messages : { ...messages, id };
}

/**
 * Reads one line of a server program, as {@link readLine} does. A line without `"jsonrpc"`, such as one of a log, answers
 * no request, whatever `id` it has.
 * @param maxValues see `parseJson`
 */
export function readLineOfServer(line: Uint8Array, maxValues?: number): Frames | Refusal | undefined {
  const read = readLineWith(({ value }) => readFramesOfServer(value), line, maxValues);
  if (!isRefusal(read) || Buffer.from(line.buffer, line.byteOffset, line.byteLength).includes('"jsonrpc"'))
    return read;
  const { id: _ofNoAnswer, ...refusal } = read;
  return refusal;
}

/** White space of JSON, the carriage return of CRLF among it (RFC 8259 section 2). */
function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function idOf(value: unknown): RequestId | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  const { id } = value;
  return isId(id) ? id : undefined;
}
