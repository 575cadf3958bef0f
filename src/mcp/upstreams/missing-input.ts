import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { JsonRpcError } from '../protocol.ts';

/** Something only its person can give before a call can be served, and where they give it. */
export interface MissingInput {
  /** Names what is missing, for the client that asks its person. */
  name: string;
  /** Unique key among all missing input. */
  key: string;
  /** Message for the user beside the URL. */
  message: string;
  /** Page on which the user provides it; the page requires a login, so the URL opens nothing by itself (C7-04). */
  url: string;
  /** Returns true if they have given it. It is looked often. */
  isGiven(): Promise<boolean>;
}

const ofErrors = new WeakMap<object, MissingInput>();

/** Records missing input if a call is rejected with an error: clients that can open URLs get a request instead. */
export function withMissingInput(error: JsonRpcError, missing: MissingInput): JsonRpcError {
  ofErrors.set(error, missing);
  return error;
}

/** Returns the missing input if a call was rejected with this very error. No server's own error is one of these. */
export function missingInputOf(error: object | undefined): MissingInput | undefined {
  return error && ofErrors.get(error);
}

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

/** Message for a user who must link an account, if a client shows it beside the URL. */
export function invitation({ missing, label }: MissingLink): string {
  return missing === 'link'
    ? `This needs your account at ${label}. Link it to your account here.`
    : `This needs more from your account at ${label} than you have allowed so far. Allow it here.`;
}

/** Describes missing upstream access in the form of all input that only a user can provide. */
export function inputOfLink(missing: MissingLink, access: Pick<UpstreamAccess, 'isGiven'>): MissingInput {
  const { upstream, url, accountId, scopes } = missing;
  return {
    name: `link-${upstream}`,
    key: JSON.stringify([upstream, missing.missing, accountId, scopes]),
    message: invitation(missing),
    url,
    isGiven: () => access.isGiven(missing),
  };
}

/**
 * A tool needs something of the caller's account at an upstream that only the person can give. Let it out of the tool:
 * clients that can open URLs are asked to, and all others show the message, which has the URL.
 */
export class UpstreamLinkNeeded extends Error {
  override name = 'UpstreamLinkNeeded';
  /** Name of the upstream in the settings. */
  readonly upstream: string;
  /** The page if the person gives it. */
  readonly url: string;
  constructor(missing: MissingLink) {
    const { upstream, url } = missing;
    super(`${invitation(missing)} Open ${url} in a browser, and send this call again afterwards.`);
    this.upstream = upstream;
    this.url = url;
  }
}
