import type { Context, Next } from 'koa';
import proxyAddr from 'proxy-addr';

/** The part of an IPv6 address that one customer usually has, so that nobody rotates through a /64 (T-061). */
function limitKey(address: string): string {
  const plain = address.replace(/^::ffff:/i, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? before : [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/**
 * Middleware: finds the address of the client. `X-Forwarded-For` counts only as far as listed proxies wrote it, read
 * from the right (T-109). `proxy-addr` because it is Express's own, small and long tested.
 * @param trustedProxies addresses or CIDR ranges, and `loopback`, `linklocal`, `uniquelocal`
 */
export function findClientAddress(trustedProxies: readonly string[]) {
  const trust = proxyAddr.compile([...trustedProxies]);
  return async (ctx: Context, next: Next): Promise<void> => {
    const address = trustedProxies.length === 0 ? ctx.req.socket.remoteAddress : proxyAddr(ctx.req, trust);
    ctx.state.clientAddress = limitKey(address ?? 'unknown');
    await next();
  };
}
