import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { ClientError } from '../../client-error.ts';

/** What carries the messages of a host to a server, and brings back those of the server. */
export interface Relay {
  /** Takes a message of the host. */
  take(message: JSONRPCMessage): void;
  /** Ends what runs, and the connection to the server. */
  end(): Promise<void>;
}

/** Where a relay brings messages. */
export interface HostSide {
  /** Writes a message to the host. */
  write(message: JSONRPCMessage): void;
  /** Tells the person behind the host, beside the protocol. */
  say(line: string): void;
}

/** Longest failure repeated to a host, in characters. */
const maxLength = 600;

/**
 * The answer to a request that could not be carried to its server.
 * @param id the request
 * @param failure why not
 */
export function failedAnswer(id: RequestId, failure: unknown): JSONRPCMessage {
  const reason = failure instanceof ClientError ? { data: { reason: failure.reason } } : {};
  return { jsonrpc: '2.0', id, error: { code: -32000, message: describe(failure), ...reason } };
}

/** @returns the first failure of ours behind an error, in words; else its own */
export function describe(failure: unknown): string {
  let current = failure;
  while (current instanceof Error && !(current instanceof ClientError) && current.cause instanceof Error)
    current = current.cause;
  const { message } = current instanceof Error ? current : { message: 'The server cannot be reached.' };
  return message.slice(0, maxLength);
}
