import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/**
 * Gives every address of a host; none where it has none.
 * @param host host name or address, as `hostname` of a URL without brackets
 * @param signal ends the search
 */
export type Resolve = (host: string, signal: AbortSignal) => Promise<string[]>;

/** How long one question to a name server may take, and how often it is asked. */
const patience = { timeout: 1_000, tries: 2 } as const;

/**
 * Asks the name servers of this machine, both families at once. Not `dns.lookup`: that holds a thread of the pool that
 * passwords are hashed in, for as long as somebody's name server likes.
 * @returns IPv4 addresses first
 */
export const resolveHost: Resolve = async (host, signal) => {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  const resolver = new Resolver(patience);
  const stop = (): void => resolver.cancel();
  signal.addEventListener('abort', stop);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
