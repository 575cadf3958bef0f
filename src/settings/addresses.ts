import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';
import { z } from 'zod';
import { canonicalHostPattern, isLoopbackHost } from '../oauth/redirect-uri.ts';

/** A trusted proxy: an address, a range, or the name of a well-known range. */
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

/** An address or an address range. */
export const addressRange = z.string().refine((value) => isIP(value) !== 0 || ipaddr.isValidCIDR(value), {
  error: 'must be an address or a CIDR range such as 203.0.113.0/24',
});

/** A host, or all hosts below one; normalized to lower case and ASCII. */
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

function checkPublicUrl(value: string): string | undefined {
  const url = URL.parse(value);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    return 'must be an absolute URL such as https://mcp.example.com';
  if (url.search !== '' || url.hash !== '' || url.username !== '')
    return 'must have no query, fragment or user name';
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    return 'must begin with https:// (http:// is for localhost alone)';
  return undefined;
}

/** Setting: the public URL, stored without a slash at its end. */
export const publicUrl = z
  .string()
  .superRefine((value, context) => {
    const fault = checkPublicUrl(value);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  })
  .transform((value) => {
    const url = URL.parse(value);
    return url ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : value;
  })
  .describe(
    'Public URL of this server: every URL it publishes begins with it. Also the issuer of its tokens.',
  );
