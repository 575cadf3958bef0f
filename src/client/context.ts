import type { NoteSlip } from '../oauth/foreign-json.ts';

/** Any `fetch`: the runtime's own, or one that guards, pins or records what goes out. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What the client needs from outside. Everything it does goes through here. */
export interface ClientContext {
  fetch: Fetch;
  /** Epoch seconds. */
  now: () => number;
  /** Longest wait for one answer, body included, in milliseconds; 10 s unless told. */
  timeoutMs?: number;
  /** Allows `http` to hosts that are not loopback. Tokens and codes can then be read on the way. */
  dangerouslyAllowHttp?: boolean;
  /** Told of each slip of a server that was read all the same (docs/tolerances.md). */
  tolerated?: NoteSlip | undefined;
}
