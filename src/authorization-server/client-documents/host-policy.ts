import { FetchRefused } from '../../net/fetch-refused.ts';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';
import { canonicalHost, matchesHost } from '../../oauth/redirect-uri.ts';

/** Whose documents are taken: canonical host patterns. */
export interface HostPolicyOptions {
  /** Where any are named, no other host's documents are taken. */
  allowedHosts: readonly string[];
  /** Never taken, whatever is allowed. */
  deniedHosts: readonly string[];
}

/**
 * Creates the policy on the hosts of documents.
 * @returns whether documents of the host are taken; the host in any spelling, without a port (T-078)
 */
export function createHostPolicy({
  allowedHosts,
  deniedHosts,
}: HostPolicyOptions): (host: string) => boolean {
  return (written) => {
    const host = canonicalHost(written);
    if (host === undefined || deniedHosts.some((pattern) => matchesHost(pattern, host))) return false;
    return allowedHosts.length === 0 || allowedHosts.some((pattern) => matchesHost(pattern, host));
  };
}

/** Documents of widely used apps. Any response shows that documents can be fetched. */
const knownDocuments = [
  'https://claude.ai/oauth/claude-code-client-metadata',
  'https://vscode.dev/oauth/client-metadata',
];

/** Faults of a host that was reached. */
const reachedFaults: ReadonlySet<string> = new Set(['redirected', 'too_large', 'encoded']);

/**
 * Returns whether documents of clients can be fetched from this machine: whether a host that the policy allows responds.
 * Without a host to try (patterns alone are allowed) it is true.
 * @param allowedHosts host patterns of the operator
 */
export async function canFetchDocuments(
  fetch: GuardedFetch,
  isHostAllowed: (host: string) => boolean,
  allowedHosts: readonly string[],
): Promise<boolean> {
  const named = allowedHosts.filter((pattern) => !pattern.includes('*')).map((host) => `https://${host}/`);
  const urls = [...named, ...knownDocuments]
    .map((url) => new URL(url))
    .filter(({ hostname }) => isHostAllowed(hostname))
    .slice(0, 2);
  const isReached = async (url: URL): Promise<boolean> => {
    try {
      await fetch(url);
      return true;
    } catch (cause) {
      return cause instanceof FetchRefused && reachedFaults.has(cause.fault);
    }
  };
  return urls.length === 0 || (await Promise.all(urls.map(isReached))).includes(true);
}
