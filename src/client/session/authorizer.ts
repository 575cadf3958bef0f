import type { Credential, FormerLogin } from '../stores/credential-store.ts';

/** Why a request cannot go on with the credential at hand. */
export interface AuthorizationNeed {
  /** Canonical URL of the MCP server. */
  server: string;
  /**
   * `no_credential`: there is none. `rejected`: the server refuses the one held, and it could not be renewed.
   * `insufficient_scope`: it is good, but for less.
   */
  why: 'no_credential' | 'rejected' | 'insufficient_scope';
  /** All scopes held and required (A8-07); absent where none are known, and those the server names are to be asked for. */
  scopes?: readonly string[];
  /** The login in whose place the new one comes, also where that has ended. */
  before?: FormerLogin | undefined;
  /** `WWW-Authenticate` of the refusal, its fields joined by a comma; null where it had none. */
  challenge: string | null;
}

/**
 * Gets a new credential and keeps it in the store: with the user, or by a grant that needs none. A session calls it
 * once for all requests that wait, and never more than a few times (A8-08, T-186).
 * @throws ClientError where there is none to be had
 */
export type Authorizer = (need: AuthorizationNeed) => Promise<Credential>;
