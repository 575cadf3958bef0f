import { z } from 'zod';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';

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

/** The setting for the public URL; it is kept without a slash at its end. */
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
    'Where clients reach this server: every URL it publishes begins with it. Also the issuer of its tokens.',
  );
