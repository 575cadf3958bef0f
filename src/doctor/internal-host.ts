import { isLocalAddress } from '../client/url-policy.ts';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';

/** Ends of names that only a private network resolves. */
const privateName = /\.(?:local|internal|lan|intranet|corp|home|svc|cluster\.local)$/i;

/**
 * Returns the reason why a published URL cannot be meant for clients: it leads into the server's own network, or is
 * http while the server is https. Undefined if nothing speaks against it.
 * @param published a URL from a document or challenge
 * @param called the URL that the server is called by
 */
export function internalFault(published: string, called: string): string | undefined {
  const url = URL.parse(published);
  const from = URL.parse(called);
  if (!url || !from || url.hostname === from.hostname) {
    const downgraded = url && from && from.protocol === 'https:' && url.protocol === 'http:';
    return downgraded ? 'is http, while the server is called by https' : undefined;
  }
  const { hostname } = url;
  const isName = !hostname.startsWith('[') && !/^[\d.]+$/.test(hostname);
  if (isName && !isLoopbackHost(hostname) && !hostname.includes('.'))
    return `has the host ${hostname}, a name of an inner network`;
  if (isName && privateName.test(hostname)) return `has the host ${hostname}, a name of an inner network`;
  if (isLocalAddress(hostname) && !isLocalAddress(from.hostname))
    return `has the host ${hostname}, which clients cannot reach`;
  return undefined;
}
