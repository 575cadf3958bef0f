import type { ServerSource } from '../../mcp/protocol.ts';

/** State of a backend, for its operator. */
export interface BackendStatus {
  kind: 'stdio' | 'http' | 'sse' | 'rest' | 'several';
  /** `running`: a process or connection is open; `failing`: the last attempt failed; `idle`: neither. */
  state: 'idle' | 'running' | 'failing';
  /** Number of processes of a program. */
  processes?: number;
  /** Number of connections to a server with a URL. */
  connections?: number;
  /** Number of accounts whose circuit is open after failures, and whether it is open for all. */
  circuits?: { isOpenForAll: boolean; accounts: number };
  /**
   * Failures since the start of Gatehouse. `last` has the reason (a `BackendFailure`) and the time in epoch seconds.
   */
  failures: { count: number; last?: { reason: string; at: number } };
  /** State of each backend behind one path, by its key. */
  backends?: Readonly<Record<string, BackendStatus>>;
}

/** An MCP server behind the gateway. */
export interface GatewayBackend {
  source: ServerSource;
  status(): BackendStatus;
  /** Ends the processes and connections, and the requests that still run. */
  close(): Promise<void> | void;
}

/** Counts the failures of a backend. */
export interface Failures {
  /** @param reason a BackendFailure */
  note(reason: string): void;
  /** The backend works again. */
  mended(): void;
  /** True if the last attempt failed. */
  readonly isFailing: boolean;
  count(): BackendStatus['failures'];
}

/** @param now epoch seconds */
export function createFailures(now: () => number): Failures {
  let total = 0;
  let last: BackendStatus['failures']['last'];
  let isFailing = false;
  return {
    note(reason) {
      total += 1;
      last = { reason, at: now() };
      isFailing = true;
    },
    mended() {
      isFailing = false;
    },
    get isFailing() {
      return isFailing;
    },
    count: () => ({ count: total, ...(last && { last }) }),
  };
}
