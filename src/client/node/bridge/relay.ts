import { setTimeout as wait } from 'node:timers/promises';
import { type JSONRPCMessage, type RequestId, SdkHttpError } from '@modelcontextprotocol/client';
import { ClientError } from '../../client-error.ts';
import type { Fetch } from '../../context.ts';
import { neverLeft } from '../../network-failure.ts';

/** Relays messages between a host and a server. */
export interface Relay {
  /** Sends a message of the host to the server. */
  take(message: JSONRPCMessage): void;
  /** Ends what runs, and the connection to the server. */
  end(): Promise<void>;
}

/** The host's end of a relay. */
export interface HostSide {
  /** Writes a message to the host. */
  write(message: JSONRPCMessage): void;
  /** Shows a line to the person behind the host, outside the protocol. */
  say(line: string): void;
}

/** Maximum length of an error message to a host, in characters. */
const maxLength = 600;

/** Statuses of HTTP servers without an MCP endpoint at this URL (RFC 9110 sections 15.5.5 and 15.5.6). */
const nothingThere = new Set([404, 405]);

/**
 * Creates the error response to a request that could not be sent to its server.
 * @param id the request
 * @param failure the cause
 */
export function failedAnswer(id: RequestId, failure: unknown): JSONRPCMessage {
  const root = rootOf(failure);
  const reason = root instanceof ClientError ? { data: { reason: root.reason } } : {};
  return { jsonrpc: '2.0', id, error: { code: -32000, message: describe(root), ...reason } };
}

/** Returns the first ClientError in the chain of causes; else the last cause. */
function rootOf(failure: unknown): unknown {
  let current = failure;
  while (current instanceof Error && !(current instanceof ClientError) && current.cause instanceof Error)
    current = current.cause;
  return current;
}

/** Returns the message of the root cause. */
export function describe(failure: unknown): string {
  const root = rootOf(failure);
  // There is no MCP endpoint at the URL, and the error page of the server does not help.
  if (root instanceof SdkHttpError && nothingThere.has(root.status))
    return `The server answered with ${`${root.status} ${root.statusText ?? ''}`.trim()}. Check the path of the URL.`;
  return (root instanceof Error ? root.message : 'The server cannot be reached.').slice(0, maxLength);
}

/** Maximum time that a known server may be away, in milliseconds. */
const defaultPatienceMs = 20_000;

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/**
 * Wraps a fetch to wait for a server that restarts: requests that never left this machine are repeated for a
 * while. A server that has never responded is not waited for.
 * @param fetch sends the requests
 * @param patienceMs how long to wait, in milliseconds
 * @returns a fetch; it rejects with the last failure
 */
export function patientFetch(fetch: Fetch, patienceMs = defaultPatienceMs): Fetch {
  const known = new Set<string>();
  return async (url, init = {}) => {
    const { origin } = new URL(url);
    const until = Date.now() + patienceMs;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        const response = await fetch(url, init);
        known.add(origin);
        return response;
      } catch (error) {
        if (!known.has(origin) || !neverLeft(error) || Date.now() + waitMs > until) throw error;
        await wait(waitMs, undefined, init.signal ? { signal: init.signal } : {});
      }
    }
  };
}
