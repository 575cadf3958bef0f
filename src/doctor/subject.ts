import type { ClientContext } from '../client/index.ts';

/** Finds something out about the server. It throws only what nobody foresaw: no answer is an answer. */
export type Probe<T> = (subject: Subject) => Promise<T>;

/** The server under examination, and what was found out so far. */
export interface Subject {
  /** URL of the MCP server as the user gave it, byte for byte. */
  url: string;
  /** Its fetch writes every exchange down. */
  context: ClientContext;
  /** Whether it may register clients and log in. */
  active: boolean;
  /** Runs a probe once; all who ask for it get the same answer. */
  fact<T>(probe: Probe<T>): Promise<T>;
}
