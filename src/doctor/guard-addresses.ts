import { lookup } from 'node:dns/promises';
import type { Fetch } from '../client/index.ts';
import { isLocalAddress } from '../client/url-policy.ts';

/** Returns the addresses of a host, as programs on this machine get them; rejects if it has none. */
export type LookUp = (host: string) => Promise<readonly string[]>;

const lookUpHere: LookUp = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => (family === 6 ? `[${address}]` : address));

/**
 * A fetch that a public server cannot lead into the local network by a name of its own that resolves there. Literal
 * addresses and local names are judged before, see `isLocalAddress`.
 * @param fetch that sends
 * @param serverUrl of the server under examination: if it is in the local network itself, it may name others there
 * @param lookUp gives the addresses of a host
 * @returns a fetch that rejects, without a request, where a host of others has a local address
 * @see RFC 9728 section 7.7 (T-185)
 */
export function guardAddresses(fetch: Fetch, serverUrl: string, lookUp: LookUp = lookUpHere): Fetch {
  const server = URL.parse(serverUrl)?.hostname ?? '';
  const known = new Map<string, Promise<string | undefined>>();
  /** The local address of a host, if it has one. */
  const localOf = (host: string): Promise<string | undefined> => {
    const found =
      known.get(host) ??
      (isLocalAddress(host)
        ? Promise.resolve(host)
        : lookUp(host).then(
            (addresses) => addresses.find(isLocalAddress),
            () => undefined,
          ));
    known.set(host, found);
    return found;
  };
  return async (url, init) => {
    const host = new URL(url).hostname;
    if (host === server || (await localOf(server)) !== undefined) return fetch(url, init);
    const local = await localOf(host);
    if (local === undefined) return fetch(url, init);
    throw new TypeError(
      `not asked: ${host} is ${local}, in the local network, which the server is not part of`,
    );
  };
}
