import { type JSONRPCMessage, type RequestId, SdkHttpError } from '@modelcontextprotocol/client';
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

/** How HTTP servers answer where they have no MCP endpoint (RFC 9110 sections 15.5.5 and 15.5.6). */
const nothingThere = new Set([404, 405]);

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
  // Without MCP in it: there is none at the URL, and the page that says so helps nobody.
  if (root instanceof SdkHttpError && nothingThere.has(root.status))
    return `The server answered with ${`${root.status} ${root.statusText ?? ''}`.trim()}. Check the path of the URL.`;
  return (root instanceof Error ? root.message : 'The server cannot be reached.').slice(0, maxLength);
}
