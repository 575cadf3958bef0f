import { createHash } from 'node:crypto';
import { type AuthInfo, principalKey } from '../../oauth/auth-info.ts';
import { isRecord, type RequestMessage, type Seal } from '../protocol.ts';

/** Seals `requestState` of servers, so that clients cannot read, change or reuse it. */
export interface RequestStates {
  /**
   * Opens the state a request carries.
   * @returns the request in the form for the server; undefined if the state was not issued for this request
   */
  open(request: RequestMessage, authInfo: AuthInfo): RequestMessage | undefined;
  /** Seals the state a result carries, for a retry of the same request. */
  seal(result: Record<string, unknown>, request: RequestMessage, authInfo: AuthInfo): Record<string, unknown>;
}

/** Maximum time for a client to gather the requested input. */
const lifeSeconds = 600;

/** Options of the request states. */
export interface RequestStatesOptions {
  seal: Seal;
  /** The endpoint's public URL: other endpoints of the installation reject its states. */
  url: URL;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the sealing of request states. Each is bound to the endpoint, the principal, the grant, the method, the
 * parameters and a time.
 * @see MCP 2026-07-28 "Multi Round-Trip Requests" (C4-03, T-129)
 */
export function createRequestStates({ seal, url, now }: RequestStatesOptions): RequestStates {
  const contextOf = (request: RequestMessage, authInfo: AuthInfo): string =>
    JSON.stringify([
      'requestState',
      url.href,
      principalKey(authInfo),
      authInfo.grantId ?? null,
      ...digestOf(request),
    ]);

  return {
    open(request, authInfo) {
      const { requestState } = request.params ?? {};
      if (requestState === undefined) return request;
      if (typeof requestState !== 'string') return undefined;
      const text = seal.open(requestState, contextOf(request, authInfo));
      if (text === undefined) return undefined;
      const { expiresAt, state } = JSON.parse(text) as { expiresAt: number; state: string };
      if (expiresAt < now()) return undefined;
      return { ...request, params: { ...request.params, requestState: state } };
    },
    seal(result, request, authInfo) {
      const { requestState: state } = result;
      if (result.resultType !== 'input_required' || state === undefined) return result;
      const text = JSON.stringify({ expiresAt: now() + lifeSeconds, state });
      return { ...result, requestState: seal.seal(text, contextOf(request, authInfo)) };
    },
  };
}

/** Method and digest of the parameters. */
function digestOf({ method, params = {} }: RequestMessage): string[] {
  const { _meta, requestState, inputResponses, ...asked } = params;
  const digest = createHash('sha256').update(canonicalJson(asked)).digest('base64url');
  return [method, digest];
}

/** Returns the same text for equal values, whatever the order of their members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
