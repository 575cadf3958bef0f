import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { JsonRpcError } from '../protocol.ts';
import { type CallContext, callerOf } from '../sdk/caller.ts';

/** Input that only the user can provide before a call can be served, and the page for it. */
export interface MissingInput {
  /** Name of the missing input, for the client. */
  name: string;
  /** Unique key among all missing input. */
  key: string;
  /** Message for the user beside the URL. */
  message: string;
  /** Page on which the user provides it; the page requires a login, so the URL opens nothing by itself (C7-04). */
  url: string;
  /** Returns true if the user has provided it. Called often. */
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

/** A request of a tool to the API of an upstream, on behalf of the caller of the tool. */
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

/** Upstream access that only the user can give: a linked account, or further scopes. */
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

/** Access to the APIs of upstreams with the callers' accounts. It never returns a token. */
export interface UpstreamAccess {
  /**
   * Sends a request with the caller's own token.
   * @returns the response of the API, with any status; or the missing access
   * @throws Error for the tool, which says what to do and contains no secrets
   */
  call(call: UpstreamCall): Promise<Response | MissingLink>;
  /** Returns true if the user has given the missing access. */
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
 * The error if a tool lacks access to the caller's account at an upstream. Do not catch it: clients that can open URLs get
 * a request to do so, and all others show the message, which has the URL.
 */
export class UpstreamLinkNeeded extends Error {
  override name = 'UpstreamLinkNeeded';
  /** Name of the upstream in the settings. */
  readonly upstream: string;
  /** Page on which the user gives the access. */
  readonly url: string;
  constructor(missing: MissingLink) {
    const { upstream, url } = missing;
    super(`${invitation(missing)} Open ${url} in a browser, and send this call again afterwards.`);
    this.upstream = upstream;
    this.url = url;
  }
}

/** The part of a tool's context with the caller and the abort signal, in version 2 or 1 of the MCP SDK. */
export interface UpstreamContext extends CallContext {
  mcpReq?: { signal?: AbortSignal };
  signal?: AbortSignal;
}

/** Scopes that a tool needs at an upstream. */
export interface UpstreamNeeds {
  /** Scopes of the upstream that the token must have been given for, in addition to those of the settings. */
  scopes?: readonly string[];
}

/** The API of an upstream, as the account that called the tool. */
export interface CallerUpstream {
  /**
   * Sends a request with the caller's own access token: to the hosts in `apiHosts` of the upstream alone, renewed if it
   * has ended, once more if the API responds 401, and ended when the call of the tool ends. Redirects are followed
   * within the same host by GET and HEAD; every other one is given as it came, and was not followed.
   * @param url https, on one of these hosts
   * @param init as for `fetch`; Gatehouse sets the `Authorization` header
   * @returns the answer, whatever its status, read whole
   * @throws UpstreamLinkNeeded if the person has to link their account first; Error that says what to do
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

/**
 * Returns a tool, prompt or resource the API of an upstream in the name of whoever is calling it. It sees no token.
 * @param context the context its handler was called with
 * @param name of the upstream in the settings
 * @throws Error outside of a Gatehouse endpoint, and if there are no upstreams
 */
export function upstream(context: UpstreamContext, name: string, needs: UpstreamNeeds = {}): CallerUpstream {
  const caller = callerOf(context);
  const upstreams = upstreamsOf(caller);
  if (!upstreams)
    throw new Error(
      `The upstream ${name} cannot be asked here: the settings have none, or the call came over standard input, where nobody logs in.`,
    );
  return {
    async fetch(url, init = {}) {
      const { access, patienceMs } = upstreams;
      const signal = context.mcpReq?.signal ?? context.signal;
      const { scopes = [] } = needs;
      const answer = await access.call({ caller, upstream: name, url, init, scopes, patienceMs, signal });
      if (!isMissingLink(answer)) return answer;
      upstreams.missing = answer;
      throw new UpstreamLinkNeeded(answer);
    },
  };
}

/** A caller's access to upstreams within one message, and the input found missing meanwhile. */
export interface CallerUpstreams {
  readonly access: UpstreamAccess;
  /** Milliseconds that a call waits for a user who is linking an account. */
  patienceMs: number;
  missing?: MissingLink;
}

const ofMessages = new WeakMap<AuthInfo, CallerUpstreams>();

/**
 * Lets the tools that serve one message ask upstreams as its sender. Missing input is recorded for this message only,
 * so the returned caller is an object of its own, even if one token sends many messages at once (T-092).
 */
export function withUpstreams(caller: AuthInfo, access: UpstreamAccess): AuthInfo {
  const own = Object.freeze({ ...caller });
  ofMessages.set(own, { access, patienceMs: 0 });
  return own;
}

/** Returns the upstream access for a caller's message; undefined if there are no upstreams. */
export function upstreamsOf(caller: AuthInfo): CallerUpstreams | undefined {
  return ofMessages.get(caller);
}

const patient = new WeakMap<AuthInfo, number>();

/** Lets the calls of a message wait for its user, who is providing missing input. @returns the caller to continue with */
export function withPatience(caller: AuthInfo, patienceMs: number): AuthInfo {
  const upstreams = upstreamsOf(caller);
  if (upstreams) {
    upstreams.patienceMs = patienceMs;
    return caller;
  }
  const own = Object.freeze({ ...caller });
  patient.set(own, patienceMs);
  return own;
}

/**
 * Lets no call of Gatehouse itself, on behalf of a caller, wait for the user.
 * @returns the caller to send it as
 */
export function withoutPatience(caller: AuthInfo): AuthInfo {
  if (patienceOf(caller) === 0) return caller;
  const upstreams = upstreamsOf(caller);
  return upstreams ? withUpstreams(caller, upstreams.access) : Object.freeze({ ...caller });
}

/** Returns the maximum wait for the user of a message, in milliseconds. */
export function patienceOf(caller: AuthInfo): number {
  return upstreamsOf(caller)?.patienceMs ?? patient.get(caller) ?? 0;
}
