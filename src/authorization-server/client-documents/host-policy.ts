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
