import type { AuthInfo } from '../../oauth/auth-info.ts';
import { type CallContext, callerOf } from '../sdk/caller.ts';
import { isMissingLink, type MissingLink, type UpstreamAccess, UpstreamLinkNeeded } from './missing-input.ts';

/** The part of a tool's context that says who is calling, and whether they still wait; of the MCP SDK of version 2 or 1. */
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
   * @param init as for `fetch`; the `Authorization` header is ours
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

/** Returns what a caller's message may have of upstreams; undefined if there are none. */
export function upstreamsOf(caller: AuthInfo): CallerUpstreams | undefined {
  return ofMessages.get(caller);
}

const patient = new WeakMap<AuthInfo, number>();

/** Has what serves a message wait for its person, who is giving just now what was missing. @returns the caller to go on with */
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
 * Has what serves a message of ours, which is sent on behalf of a caller's, wait for no person: whoever sent it waits.
 * @returns the caller to send it as
 */
export function withoutPatience(caller: AuthInfo): AuthInfo {
  if (patienceOf(caller) === 0) return caller;
  const upstreams = upstreamsOf(caller);
  return upstreams ? withUpstreams(caller, upstreams.access) : Object.freeze({ ...caller });
}

/** Returns how long the person behind a message is waited for, in milliseconds. */
export function patienceOf(caller: AuthInfo): number {
  return upstreamsOf(caller)?.patienceMs ?? patient.get(caller) ?? 0;
}
