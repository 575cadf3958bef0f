import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { MissingLink, UpstreamAccess } from './upstream-access.ts';

/** What one message of a caller may have of upstreams, and what was found missing while it was served. */
export interface CallerUpstreams {
  readonly access: UpstreamAccess;
  /** How long a person who is linking just now is waited for, in milliseconds. */
  patienceMs: number;
  missing?: MissingLink;
}

const ofMessages = new WeakMap<AuthInfo, CallerUpstreams>();

/**
 * Lets the tools that serve one message ask upstreams as its sender. What they find missing is noted for this message
 * alone, so the caller it gives is an object of its own, also where one token sends many messages at once (T-092).
 */
export function withUpstreams(caller: AuthInfo, access: UpstreamAccess): AuthInfo {
  const own = Object.freeze({ ...caller });
  ofMessages.set(own, { access, patienceMs: 0 });
  return own;
}

/** Gives what a caller's message may have of upstreams; undefined where there are none. */
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

/** Gives how long the person behind a message is waited for, in milliseconds. */
export function patienceOf(caller: AuthInfo): number {
  return upstreamsOf(caller)?.patienceMs ?? patient.get(caller) ?? 0;
}
