import type { JsonRpcError } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/** Credentials for a backend on behalf of one caller. Never the caller's own bearer (A7-04). */
export interface Credentials {
  /** Headers of each request, by their names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** Variables of the environment of a process. */
  env?: Readonly<Record<string, string>>;
  /** Members of `_meta.auth` of each request (Rest, B7-16). */
  auth?: Readonly<Record<string, unknown>>;
}

/** An account, as the port names it. */
export type CredentialOwner = Pick<AuthInfo, 'issuer' | 'subject'>;

/** Returns what a backend is given on behalf of its callers. */
export interface CredentialSource {
  /**
   * Returns what a caller has; or why they cannot be served, as the error their request gets (it says where to enter
   * it). It never rejects.
   */
  find(caller: AuthInfo): Promise<Credentials | { error: JsonRpcError }>;
  /**
   * Calls back when the credentials of an account changed or ended: processes and connections made with the old ones end.
   * @returns stops calling back
   */
  onChange(tell: (account: CredentialOwner) => void): () => void;
  /**
   * Calls back when an account may have given what it lacked; left out if nothing tells that.
   * @returns stops calling back
   */
  onGiven?(tell: (account: CredentialOwner) => void): () => void;
}

/** Result for rejected credentials: new ones, or the error of the request. */
export type AfterRefusal = 'renewed' | { error: JsonRpcError };

/** Credentials of which some are their callers' own. */
export interface PersonalCredentials extends CredentialSource {
  /**
   * Takes note that the backend did not accept what it was given for a caller (401), and renews what can be renewed.
   * @param sinceMs when the refused request began, by `performance.now()`
   * @returns undefined if nothing of it is the caller's own
   */
  refused(caller: AuthInfo, sinceMs: number): Promise<AfterRefusal | undefined>;
}
