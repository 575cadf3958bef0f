import { isIP } from 'node:net';
import type { Subject } from '../subject.ts';

/** Target of the server's URL. */
export interface Target {
  url: URL;
  /** Host without the brackets of IPv6. */
  host: string;
  port: number;
  isSecure: boolean;
  /** True if the host is an IP address, so that nothing has to be looked up. */
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
