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
  const root = rootOf(failure);
  const reason = root instanceof ClientError ? { data: { reason: root.reason } } : {};
  return { jsonrpc: '2.0', id, error: { code: -32000, message: describe(root), ...reason } };
}

/** The first failure of ours behind an error; else the last of the others. */
function rootOf(failure: unknown): unknown {
  let current = failure;
  while (current instanceof Error && !(current instanceof ClientError) && current.cause instanceof Error)
    current = current.cause;
  return current;
}

/** @returns what stands behind an error, in words */
export function describe(failure: unknown): string {
  const root = rootOf(failure);
  return (root instanceof Error ? root.message : 'The server cannot be reached.').slice(0, maxLength);
}
