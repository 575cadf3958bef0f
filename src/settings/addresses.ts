import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';
import { z } from 'zod';
import { canonicalHostPattern } from '../oauth/host-pattern.ts';

/** A proxy in front: an address, a range, or the name of a well-known range. */
export const proxy = z.string().refine(
  (value) => {
    try {
      return Boolean(proxyAddr.compile(value));
    } catch {
      return false;
    }
  },
  { error: 'must be an address, a CIDR range, loopback, linklocal or uniquelocal' },
);

/** An address, or a range of them. */
export const addressRange = z.string().refine((value) => isIP(value) !== 0 || ipaddr.isValidCIDR(value), {
  error: 'must be an address or a CIDR range such as 203.0.113.0/24',
});

/** A host, or all hosts below one; kept in lower case and without Unicode. */
export const hostPattern = z.string().transform((value, context) => {
  const canonical = canonicalHostPattern(value);
  if (canonical === undefined)
    context.addIssue({ code: 'custom', message: 'must be a host such as app.example.com, or *.example.com' });
  return canonical ?? value;
});

/** An origin as browsers send it. */
export const origin = z.string().refine((value) => URL.parse(value)?.origin === value, {
  error: 'must be an origin such as https://app.example.com, without a path or a slash at its end',
});
