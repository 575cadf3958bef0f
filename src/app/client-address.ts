import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { Context, Next } from 'koa';
import proxyAddr from 'proxy-addr';

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  if (tail === undefined) return before;
  const after = tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** Returns the IPv4 address mapped into an IPv6 address (RFC 4291 section 2.5.5.2); undefined for other addresses. */
function mappedIPv4(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  return groups
    .slice(6)
    .flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 0xff];
    })
    .join('.');
}

/**
 * Returns the key by which an address is limited: an IPv4 address itself, an IPv6 address by its /64, which one customer
 * usually has, so that nobody can rotate through it (T-061).
 * @param written an address in any spelling, perhaps with a port
 * @returns undefined if it is not an address
 */
export function countedAddress(written: string): string | undefined {
  const address = written
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const groups = groupsOf(address);
  return mappedIPv4(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * Returns the function that finds the address of the client of a request. `X-Forwarded-For` is trusted only as far as
 * listed proxies wrote it, read from the right (T-109). `proxy-addr` because it is Express's own, small and long tested.
 * @param trustedProxies addresses or CIDR ranges, and `loopback`, `linklocal`, `uniquelocal`
 */
export function createAddressFinder(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trust = proxyAddr.compile([...trustedProxies]);
  /** The peer of a connection is the same for all its requests. */
  const peers = new WeakMap<Socket, string>();
  const peerOf = (socket: Socket): string => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      peer = countedAddress(socket.remoteAddress ?? '') ?? 'unknown';
      peers.set(socket, peer);
    }
    return peer;
  };
  return (request) => {
    const forwarded = trustedProxies.length === 0 ? undefined : countedAddress(proxyAddr(request, trust));
    return forwarded ?? peerOf(request.socket);
  };
}

/** Middleware: notes the address of the client. @param find returns it for a request */
export function noteClientAddress(find: (request: IncomingMessage) => string) {
  return (ctx: Context, next: Next): Promise<void> => {
    ctx.state.clientAddress = find(ctx.req);
    return next();
  };
}
