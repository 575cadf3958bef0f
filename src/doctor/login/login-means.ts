import type { AuthorizationAgent } from '../../client/authorization/code-login.ts';
import type { CredentialStore, GivenClient } from '../../client/index.ts';

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
