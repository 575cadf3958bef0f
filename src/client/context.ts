import type { NoteSlip } from '../oauth/foreign-json.ts';

/** A `fetch` of the runtime, or a wrapper that checks, pins or records requests. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The client's access to the outside. All requests and clock readings go through it. */
export interface ClientContext {
  fetch: Fetch;
  /** Epoch seconds. */
  now: () => number;
  /** Maximum wait for one response with its body, in milliseconds (default 10 s). */
  timeoutMs?: number;
  /** Allows `http` for hosts other than loopback. Others on the network can then read tokens and codes. */
  dangerouslyAllowHttp?: boolean;
  /** Called for each deviation from a standard that the client accepted (docs/tolerances.md). */
  tolerated?: NoteSlip | undefined;
}
