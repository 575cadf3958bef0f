import type { ClientContext, Exchange } from '../client/index.ts';
import type { LoginMeans } from './login/login-means.ts';

/** Finds something out about the server. It throws only what nobody foresaw: no answer is an answer. */
export type Probe<T> = (subject: Subject) => Promise<T>;

/** The server under examination, and what was found out so far. */
export interface Subject {
  /** URL of the MCP server as the user gave it, byte for byte. */
  url: string;
  /** Its fetch writes every exchange down. */
  context: ClientContext;
  /** True if it may register clients and log in. */
  active: boolean;
  /** Login means. */
  login?: LoginMeans;
  /** All exchanges so far, of whatever check. */
  exchanges: readonly Exchange[];
  /** Runs a probe once; all who ask for it get the same answer. A probe is known by its identity. */
  fact<T>(probe: Probe<T>): Promise<T>;
  /** Has something done when the examination is over, the latest first: what was registered or issued is taken back. */
  atEnd(task: () => Promise<unknown>): void;
}
