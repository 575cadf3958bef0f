import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { MissingLink, UpstreamAccess } from './upstream-access.ts';

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
