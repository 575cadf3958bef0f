import type { AuthorizationAgent } from '../client/authorization/code-login.ts';
import type { ClientContext, CredentialStore, Exchange, GivenClient } from '../client/index.ts';

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

/** Login means of an examination. Checks whose means are absent report so. */
export interface LoginMeans {
  /**
   * Opens an agent for one login, does the work, and closes it. Called at most twice in one examination, each time for
   * one consent.
   */
  withAgent?: <T>(work: (agent: AuthorizationAgent) => Promise<T>) => Promise<T>;
  /** A client registered beforehand, for servers without registration. */
  given?: GivenClient;
  /** URL of the client ID metadata document that the user's client has. */
  clientIdMetadataUrl?: string;
  /** The name under which the user's client registers, if a server allows only some names. */
  clientName?: string;
  /** The user's own logins. They are read, never renewed and never changed. */
  kept?: CredentialStore;
  /** Another resource that the same authorization server issues tokens for. */
  otherResource?: string;
  /** Times at which a used refresh token is tried again, in seconds after its use; rising. */
  reuseAfterSeconds?: readonly number[];
  /** Times at which a revoked access token is tried again, in seconds after its revocation; rising. */
  revokedAfterSeconds?: readonly number[];
}
