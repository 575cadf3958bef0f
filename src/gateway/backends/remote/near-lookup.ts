import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { isLoopbackAddress, isPrivateAddress } from '../../../net/address.ts';

/** Code of the error for a host that is not near. */
export const publicAddressCode = 'PUBLIC_ADDRESS';

type LookupAnswer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Finds all addresses of a host, as `dns.lookup` does. */
export type FindAll = (
  host: string,
  options: LookupOptions & { all: true },
  answer: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Returns true if an address is one of this machine or of a private network, to which the operator may use a connection
 * without TLS.
 */
export function isNear(address: string): boolean {
  return isLoopbackAddress(address) || isPrivateAddress(address);
}

/**
 * Creates a lookup for connections without TLS. If an address of a host is on the public internet, the lookup fails,
 * with {@link publicAddressCode}, before anything is sent there.
 * @param find asks the system by default, which knows names of its own network
 */
export function createNearLookup(
  find: FindAll = lookup,
): (host: string, options: LookupOptions, answer: LookupAnswer) => void {
  return (host, options, answer) => {
    find(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error) answer(error, []);
      else if (!first || !found.every(({ address }) => isNear(address)))
        answer(
          Object.assign(new Error('the host is on the public internet'), { code: publicAddressCode }),
          [],
        );
      else if (options.all) answer(null, found);
      else answer(null, first.address, first.family);
    });
  };
}
