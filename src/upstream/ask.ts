import { type FetchFault, FetchRefused } from '../net/fetch-refused.ts';
import type { OperatorFetch, OperatorRequest } from '../net/operator-fetch.ts';
import { UpstreamFault, type UpstreamFaultKind, type UpstreamReason } from './upstream-fault.ts';

/** The endpoint of an upstream, in words for a log. */
export type Asked = 'metadata' | 'key set' | 'token endpoint' | 'user info' | 'revocation endpoint';

/**
 * Sends a request to an upstream.
 * @returns a response without a server error
 * @throws UpstreamFault if there was none
 */
export type Ask = (asked: Asked, url: string | URL, request?: OperatorRequest) => Promise<Response>;

const reasonOf: Readonly<Record<FetchFault, UpstreamReason>> = {
  not_https: 'not_https',
  not_public: 'address_not_public',
  certificate: 'certificate',
  redirected: 'redirected',
  too_large: 'too_large',
  encoded: 'unreachable',
  unreachable: 'unreachable',
  timeout: 'timed_out',
  busy: 'unreachable',
};

/** Temporary faults, which say nothing about any login. */
const passing: ReadonlySet<UpstreamReason> = new Set([
  'unreachable',
  'timed_out',
  'server_error',
  'too_many_requests',
]);

/** Returns the kind of a fault that concerns no tokens. */
export function kindOf(reason: UpstreamReason): Exclude<UpstreamFaultKind, 'ended'> {
  return passing.has(reason) ? 'unavailable' : 'refused';
}

/**
 * Returns the code of a network failure of Node.js. The error itself is not used: it may contain received
 * data.
 */
function codeOf({ cause }: FetchRefused): string | undefined {
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : undefined;
}

/**
 * Creates the function that sends requests to an upstream.
 * @param name of the upstream, for its faults
 */
export function createAsk(name: string, fetch: OperatorFetch): Ask {
  const fault = (reason: UpstreamReason, asked: Asked, code?: string): UpstreamFault =>
    new UpstreamFault(name, kindOf(reason), reason, code === undefined ? asked : `${asked}, ${code}`);
  return async (asked, url, request) => {
    const answer = await fetch(url, request).catch((error: unknown) => {
      if (error instanceof FetchRefused) throw fault(reasonOf[error.fault], asked, codeOf(error));
      throw error;
    });
    if (answer.status >= 500) throw fault('server_error', asked);
    if (answer.status === 429) throw fault('too_many_requests', asked);
    return answer;
  };
}
