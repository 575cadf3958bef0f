import { lookup } from 'node:dns/promises';
import { connect, isIP, isIPv6 } from 'node:net';
import { requireUrl } from '../../client/index.ts';
import { quote } from '../../client/quote.ts';
import { isLocalAddress } from '../../client/url-policy.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { defaultAnswerMs, failureCode } from '../ask.ts';
import { type Check, fail, pass, skip, unknown, warn } from '../check.ts';
import type { Subject } from '../subject.ts';
import { secretsInQuery } from '../without-secrets.ts';
import { anonymousInitialize } from './anonymous.ts';

function describe(connection: Connection): string {
  return 'failure' in connection
    ? `${connection.address}: ${connection.failure}`
    : `${connection.address} in ${connection.durationMs} ms`;
}

/** Returns true if requests get responses, whatever the resolver and the sockets of this machine say. */
async function isReached(subject: Subject): Promise<boolean> {
  return (await subject.fact(anonymousInitialize)).kind === 'answered';
}

function succeeded(list: readonly Connection[]): boolean {
  return list.some((connection) => !('failure' in connection));
}

/** Checks that clients can use the URL. */
const usableUrl: Check = {
  id: 'REACH-URL',
  section: 'reach',
  title: 'The URL is an absolute http or https URL without user, password, key or fragment',
  clause: 'RFC 9728 section 2; RFC 8707 section 2',
  async judge(subject) {
    const target = targetOf(subject);
    const mend = 'Give the URL that clients are given, such as https://mcp.example.com/mcp.';
    if (!target) return fail(`${quote(subject.url)} is no http or https URL.`, mend);
    try {
      requireUrl(subject.url, 'The URL', { dangerouslyAllowHttp: true });
    } catch (error) {
      return fail(error instanceof Error ? error.message : 'It is refused.', mend);
    }
    const secrets = secretsInQuery(subject.url);
    if (secrets.length > 0)
      return warn(
        `The URL has ${secrets.join(', ')} in its query: logs, histories and other servers keep URLs, with what is in them.`,
        'Take keys from the Authorization header, and give clients the URL without them.',
      );
    return pass(`${target.url.href}`);
  },
};

/** Checks for https, because others could read the tokens. */
const https: Check = {
  id: 'REACH-HTTPS',
  section: 'reach',
  title: 'A server that is not on this machine is reached over https',
  clause: 'MCP authorization "Communication Security"; OAuth 2.1 section 1.5',
  needs: ['REACH-URL'],
  async judge(subject) {
    const { isSecure, host, url } = requireTarget(subject);
    if (isSecure) return pass('The URL is https.');
    if (isLoopbackHost(url.hostname))
      return pass(`The URL is http, which ${host} may be: it does not leave this machine.`);
    return fail(
      `The URL is http, and ${host} is not this machine: everybody on the way can read the tokens, and clients refuse it.`,
      'Put TLS in front of the server and give the https URL to clients.',
    );
  },
};

/** Checks that the host name has an address. */
const name: Check = {
  id: 'REACH-DNS',
  section: 'reach',
  title: 'The host name has an address',
  clause: 'operational',
  needs: ['REACH-URL'],
  async judge(subject) {
    const { host, isAddress } = requireTarget(subject);
    if (isAddress) return skip(`${host} is an address itself.`);
    const { ipv4, ipv6, failure } = await subject.fact(addresses);
    if (ipv4.length + ipv6.length > 0)
      return pass(`${host} is ${[...ipv4, ...ipv6].slice(0, 6).join(', ')}.`);
    const saw = `${host} has no address here (${failure ?? 'none found'}).`;
    if (await isReached(subject)) return unknown(`${saw} Requests reach it all the same: through a proxy.`);
    return failure === 'ENOTFOUND'
      ? fail(saw, 'Look for a typo in the host name; else publish an A or AAAA record for it.')
      : unknown(`${saw} The resolver of this machine did not answer.`);
  },
};

/** Checks that the port is open. */
const port: Check = {
  id: 'REACH-TCP',
  section: 'reach',
  title: 'The port takes connections',
  clause: 'operational',
  needs: ['REACH-DNS'],
  async judge(subject) {
    const target = requireTarget(subject);
    const { ipv4, ipv6 } = await subject.fact(connections);
    const tried = [...ipv4, ...ipv6];
    if (tried.length === 0) return unknown('There is no address to try.');
    if (succeeded(tried)) return pass(`Port ${target.port} answers: ${tried.map(describe).join(', ')}.`);
    const saw = `Port ${target.port} takes no connection: ${tried.map(describe).join(', ')}.`;
    if (await isReached(subject)) return unknown(`${saw} Requests reach it all the same: through a proxy.`);
    const refused = tried.some((one) => 'failure' in one && one.failure === 'ECONNREFUSED');
    return fail(
      saw,
      refused
        ? `Start the server, or correct the port: nobody listens on ${target.port}.`
        : 'Open the port in the firewall between here and the server, or set HTTPS_PROXY if this network needs it.',
    );
  },
};

/** Checks that IPv6 works if the host has such addresses. */
const bothFamilies: Check = {
  id: 'REACH-IPV6',
  section: 'reach',
  title: 'IPv4 and IPv6 both lead to the server where both are published',
  clause: 'operational',
  needs: ['REACH-TCP'],
  async judge(subject) {
    const { ipv4, ipv6 } = await subject.fact(connections);
    if (ipv4.length === 0 || ipv6.length === 0)
      return skip(`Only ${ipv4.length === 0 ? 'IPv6' : 'IPv4'} is published.`);
    if (succeeded(ipv4) && succeeded(ipv6)) return pass([...ipv4, ...ipv6].map(describe).join(', '));
    const [dead, family] = succeeded(ipv6) ? [ipv4, 'IPv4'] : [ipv6, 'IPv6'];
    if (isLocalAddress(requireTarget(subject).url.hostname))
      return pass(
        `The server listens on one family only (${dead.map(describe).join(', ')}), as local servers do.`,
      );
    const noWay = dead.every(
      (one) => 'failure' in one && /^E(NETUNREACH|HOSTUNREACH|ADDRNOTAVAIL)$/.test(one.failure),
    );
    if (noWay) return unknown(`This machine has no ${family}: ${dead.map(describe).join(', ')}.`);
    return warn(
      `${family} leads nowhere: ${dead.map(describe).join(', ')}. Clients that try it first wait until they give up.`,
      `Make the server listen on ${family}, or remove its ${family === 'IPv6' ? 'AAAA' : 'A'} record.`,
    );
  },
};

/** Checks from the URL to an open port. */
export const connectionChecks: readonly Check[] = [usableUrl, https, name, port, bothFamilies];

/** Addresses of a name. */
interface Addresses {
  ipv4: readonly string[];
  ipv6: readonly string[];
  /** Code of the resolver if it found nothing: `ENOTFOUND`. */
  failure?: string;
}

/** Result of a connection: its duration in milliseconds, or an error code. */
type Connection = { address: string; durationMs: number } | { address: string; failure: string };

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

/** Maximum number of tried addresses of one family. */
const maxTried = 2;

/** Fact: if the server's port can be reached, separately for IPv4 and IPv6. */
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

/** Target of the server's URL. */
interface Target {
  url: URL;
  /** Host without the brackets of IPv6. */
  host: string;
  port: number;
  isSecure: boolean;
  /** True if the host is an IP address, which needs no lookup. */
  isAddress: boolean;
}

/** Parses the URL under examination; undefined if it is no http(s) URL. */
export function targetOf({ url: given }: Pick<Subject, 'url'>): Target | undefined {
  const url = URL.parse(given);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isSecure = url.protocol === 'https:';
  return {
    url,
    host,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    isSecure,
    isAddress: isIP(host) !== 0,
  };
}

/**
 * Parses the URL after the check on the URL passed.
 * @throws TypeError if it is no URL
 */
export function requireTarget(subject: Pick<Subject, 'url'>): Target {
  const target = targetOf(subject);
  if (!target) throw new TypeError('the URL is no http or https URL');
  return target;
}
