import type { AuthInfo } from '../../oauth/auth-info.ts';

/** A request of a tool to the API of an upstream, in the name of whoever called the tool. */
export interface UpstreamCall {
  caller: AuthInfo;
  /** Name of the upstream in the settings. */
  upstream: string;
  url: string | URL;
  init: RequestInit;
  /** What the upstream must have given the token for. */
  scopes: readonly string[];
  /** How long somebody who is linking just now is waited for, in milliseconds. */
  patienceMs: number;
  /** Ends it with the call of the tool. */
  signal?: AbortSignal | undefined;
}

/** Something only the person can give: their account at the upstream, or more of what it may be used for. */
export interface MissingLink {
  missing: 'link' | 'scopes';
  upstream: string;
  /** What people call the upstream. */
  label: string;
  /** The page of ours where they give it; they log in there, so it opens nothing by itself (C7-04). */
  url: string;
  accountId: string;
  /** What the tool needs the token for. */
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
  /** Whether the person has given what was missing. */
  isGiven(missing: MissingLink): Promise<boolean>;
}

/** Tells what is missing from an answer. */
export function isMissingLink(answer: Response | MissingLink): answer is MissingLink {
  return 'missing' in answer;
}
