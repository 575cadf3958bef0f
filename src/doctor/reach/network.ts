import { lookup } from 'node:dns/promises';
import { connect, isIPv6 } from 'node:net';
import { defaultAnswerMs } from '../ask.ts';
import { failureCode } from '../failure.ts';
import type { Subject } from '../subject.ts';
import { requireTarget } from './target.ts';

/** Addresses of a name. */
export interface Addresses {
  ipv4: readonly string[];
  ipv6: readonly string[];
  /** Code of the resolver if it found nothing: `ENOTFOUND`. */
  failure?: string;
}

/** A try to connect: how long it took in milliseconds, or the code of the failure. */
export type Connection = { address: string; durationMs: number } | { address: string; failure: string };

/** Fact: the addresses of the server's host, as programs on this machine get them. */
export async function addresses(subject: Subject): Promise<Addresses> {
  const { host, isAddress } = requireTarget(subject);
  if (isAddress) return isIPv6(host) ? { ipv4: [], ipv6: [host] } : { ipv4: [host], ipv6: [] };
  try {
    const found = await lookup(host, { all: true });
    const of = (family: number): string[] =>
      found.filter((one) => one.family === family).map((one) => one.address);
    return { ipv4: of(4), ipv6: of(6) };
  } catch (error) {
    return { ipv4: [], ipv6: [], failure: failureCode(error) ?? 'no address' };
  }
}

function tryAddress(address: string, port: number, timeoutMs: number): Promise<Connection> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const socket = connect({ host: address, port, timeout: timeoutMs });
    const end = (result: Connection): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end({ address, durationMs: Math.round(performance.now() - startedAt) }));
    socket.once('timeout', () => end({ address, failure: 'ETIMEDOUT' }));
    socket.once('error', (error) => end({ address, failure: failureCode(error) ?? error.message }));
  });
}

/** Most addresses of one family that are tried. */
const maxTried = 2;

/** Fact: whether the server's port can be reached, over IPv4 and IPv6 apart. */
export async function connections(
  subject: Subject,
): Promise<{ ipv4: readonly Connection[]; ipv6: readonly Connection[] }> {
  const { port } = requireTarget(subject);
  const found = await subject.fact(addresses);
  const timeoutMs = Math.min(subject.context.timeoutMs ?? defaultAnswerMs, 5000);
  const tryAll = (list: readonly string[]): Promise<Connection[]> =>
    Promise.all(list.slice(0, maxTried).map((address) => tryAddress(address, port, timeoutMs)));
  const [ipv4, ipv6] = await Promise.all([tryAll(found.ipv4), tryAll(found.ipv6)]);
  return { ipv4, ipv6 };
}
