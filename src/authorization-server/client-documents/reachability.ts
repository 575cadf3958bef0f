import { FetchRefused } from '../../net/fetch-refused.ts';
import type { GuardedFetch } from '../../net/guarded-fetch.ts';

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
