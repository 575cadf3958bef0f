import { type FetchFault, FetchRefused } from '../net/fetch-refused.ts';
import type { OperatorFetch, OperatorRequest } from '../net/operator-fetch.ts';
import { UpstreamFault, type UpstreamFaultKind, type UpstreamReason } from './upstream-fault.ts';

/** What of an upstream is asked, in words for a log. */
export type Asked = 'metadata' | 'key set' | 'token endpoint' | 'user info' | 'revocation endpoint';

/**
 * Sends a request to an upstream.
 * @returns an answer that is none of its server errors
 * @throws UpstreamFault where none came
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

/** Reasons that may be gone in a moment, and so say nothing about anybody's login. */
const passing: ReadonlySet<UpstreamReason> = new Set([
  'unreachable',
  'timed_out',
  'server_error',
  'too_many_requests',
]);

/** @returns what a fault of this name means while nobody's tokens are asked about */
export function kindOf(reason: UpstreamReason): Exclude<UpstreamFaultKind, 'ended'> {
  return passing.has(reason) ? 'unavailable' : 'refused';
}

/** The code of what Node.js says of a network failure. Nothing more: its errors may hold what was received. */
function codeOf({ cause }: FetchRefused): string | undefined {
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : undefined;
}

/** Creates what sends requests to an upstream. @param name of the upstream, for its faults */
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
