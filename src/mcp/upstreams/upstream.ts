import { type CallContext, callerOf } from '../sdk/caller.ts';
import { upstreamsOf } from './caller-upstreams.ts';
import { UpstreamLinkNeeded } from './link-needed.ts';
import { isMissingLink } from './upstream-access.ts';

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
