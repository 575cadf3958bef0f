import type { AuthInfo } from '../../oauth/auth-info.ts';

/** A request of a tool to the API of an upstream, in the name of whoever called the tool. */
export interface UpstreamCall {
  caller: AuthInfo;
  /** Name of the upstream in the settings. */
  upstream: string;
  url: string | URL;
  init: RequestInit;
  /** Scopes that the upstream must have granted to the token. */
  scopes: readonly string[];
  /** Milliseconds that a call waits for a user who is linking an account. */
  patienceMs: number;
  /** Ends it with the call of the tool. */
  signal?: AbortSignal | undefined;
}

/** Something only the person can give: their account at the upstream, or more of what it may be used for. */
export interface MissingLink {
  missing: 'link' | 'scopes';
  upstream: string;
  /** Display name of the upstream. */
  label: string;
  /** Page on which the user links; the page requires a login, so the URL opens nothing by itself (C7-04). */
  url: string;
  accountId: string;
  /** Purpose of the token. */
  scopes: readonly string[];
}

/** The APIs of upstreams, as the accounts that call. No token of theirs comes out of it. */
export interface UpstreamAccess {
  /**
   * Sends a request with the caller's own token.
   * @returns the answer of the API, whatever its status; or what is missing
   * @throws Error for the tool, which says what to do and has no secrets in it
   */
  call(call: UpstreamCall): Promise<Response | MissingLink>;
  /** Returns true if the person has given what was missing. */
  isGiven(missing: MissingLink): Promise<boolean>;
}

/** Type guard for missing access. */
export function isMissingLink(answer: Response | MissingLink): answer is MissingLink {
  return 'missing' in answer;
}
