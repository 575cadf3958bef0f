import type { AuthorizationAgent } from '../../client/authorization/code-login.ts';
import type { CredentialStore, GivenClient } from '../../client/index.ts';

/** What an examination may use to log in. Whatever is absent cannot be examined, and the checks say so. */
export interface LoginMeans {
  /**
   * Opens an agent for one login, does the work, and closes it. Called at most twice in one examination, each time for
   * one consent.
   */
  withAgent?: <T>(work: (agent: AuthorizationAgent) => Promise<T>) => Promise<T>;
  /** A client registered beforehand, used where the server registers none. */
  given?: GivenClient;
  /** URL of the client ID metadata document that the user's client has. */
  clientIdMetadataUrl?: string;
  /** The name under which the user's client registers, where a server allows some names only. */
  clientName?: string;
  /** The user's own logins. They are read, never renewed and never changed. */
  kept?: CredentialStore;
  /** Another resource that the same authorization server issues tokens for. */
  otherResource?: string;
  /** When a used refresh token is tried again, in seconds after its use; rising. */
  reuseAfterSeconds?: readonly number[];
  /** When a revoked access token is tried again, in seconds after its revocation; rising. */
  revokedAfterSeconds?: readonly number[];
}
