import type { AuthorizationAgent } from '../client/building-blocks.ts';
import type { ClientContext, CredentialStore, Exchange, GivenClient } from '../client/index.ts';

/** Determines a fact about the server. A missing response is a fact, too; only unexpected errors are thrown. */
export type Probe<T> = (subject: Subject) => Promise<T>;

/** The examined server, with the known facts. */
export interface Subject {
  /** URL of the MCP server as the user gave it, byte for byte. */
  url: string;
  /** Its fetch records every exchange. */
  context: ClientContext;
  /** Allows registrations and logins. */
  active: boolean;
  /** Options of logins. */
  login?: LoginMeans;
  /** All exchanges so far, of all checks. */
  exchanges: readonly Exchange[];
  /** Runs a probe once; all callers get the same result. Probes are distinguished by identity. */
  fact<T>(probe: Probe<T>): Promise<T>;
  /** Runs a task when the examination is over, the latest first, to delete registrations and tokens. */
  atEnd(task: () => Promise<unknown>): void;
}

/** Options of logins. Checks that lack theirs are `unknown`. */
export interface LoginMeans {
  /** Opens an agent for one consent, does the work, and closes the agent. Called at most twice in one examination. */
  withAgent?: <T>(work: (agent: AuthorizationAgent) => Promise<T>) => Promise<T>;
  /** A client that was registered beforehand, for servers without registration. */
  given?: GivenClient;
  /** URL of the client ID metadata document of the user's client. */
  clientIdMetadataUrl?: string;
  /** Name of the user's client, for servers that allow only some names. */
  clientName?: string;
  /** The user's own logins, which are only read. */
  kept?: CredentialStore;
  /** Another resource of the same authorization server. */
  otherResource?: string;
  /** Times at which a used refresh token is tried again, in seconds after its use, rising. */
  reuseAfterSeconds?: readonly number[];
  /** Times at which a revoked access token is tried again, in seconds after its revocation, rising. */
  revokedAfterSeconds?: readonly number[];
}
