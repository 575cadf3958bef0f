import type { ServerSource } from '../../mcp/protocol.ts';

/** State of the backend, for its operator. */
export interface BackendStatus {
  kind: 'stdio' | 'http' | 'sse' | 'rest' | 'several';
  /** `running`: something of it is open; `failing`: the last that was tried with it failed; `idle`: neither. */
  state: 'idle' | 'running' | 'failing';
  /** Of a program. */
  processes?: number;
  /** To a server reached by URL. */
  connections?: number;
  /** Number of accounts that are kept from it for a while after failures, and whether all are. */
  circuits?: { isOpenForAll: boolean; accounts: number };
  /** Failures since the start, and the last: its reason (a BackendFailure) and when, in epoch seconds. */
  failures: { count: number; last?: { reason: string; at: number } };
  /** Of several behind one path: each by its key. */
  backends?: Readonly<Record<string, BackendStatus>>;
}

/** An MCP server that stands elsewhere, as the front is served by it. */
export interface GatewayBackend {
  source: ServerSource;
  status(): BackendStatus;
  /** Lets go of what it holds; what still runs ends, too. */
  close(): Promise<void> | void;
}
