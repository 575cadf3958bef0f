import type { ProxyProduct } from '../finding.ts';

/** A program between here and the server that gave itself away. */
export interface SeenProxy {
  /** As it is known, with its version if it says one. */
  name: string;
  /** The one whose configuration hints can name; absent for others. */
  product?: ProxyProduct;
  /** Evidence for it. */
  mark: string;
}

/** Features of a response that may tell. */
export interface Marks {
  status: number;
  headers: Headers;
  text: string;
}

const servers: readonly [RegExp, string, ProxyProduct | undefined][] = [
  [/^cloudflare\b/i, 'Cloudflare', 'cloudflare'],
  [/\b(?:nginx|openresty|tengine)\b/i, 'nginx', 'nginx'],
  [/^caddy\b/i, 'Caddy', 'caddy'],
  [/\bapache\b/i, 'Apache httpd', 'apache'],
  [/^traefik\b/i, 'Traefik', 'traefik'],
  [/^(?:envoy|istio-envoy)\b/i, 'Envoy', undefined],
  [/^awselb\b/i, 'AWS load balancer', undefined],
  [/^(?:google frontend|gws)\b/i, 'Google load balancer', undefined],
];

/** Pages that proxies write themselves; `Server` may be hidden. */
const pages: readonly [RegExp, string, ProxyProduct | undefined][] = [
  [/<center>(?:nginx|openresty)\b/i, 'nginx', 'nginx'],
  [/<address>Apache\b|<!DOCTYPE HTML PUBLIC "-\/\/IETF\/\/DTD HTML 2\.0\/\/EN">/i, 'Apache httpd', 'apache'],
  [/cloudflare ray id|<title>[^<]*\| cloudflare<\/title>/i, 'Cloudflare', 'cloudflare'],
  [
    /<h1>\d{3} [^<]*<\/h1>\s*(?:Your browser sent an invalid request|The server returned an invalid or incomplete response|No server is available to handle this request|The server didn't respond in time)/i,
    'HAProxy',
    'haproxy',
  ],
];

function fromServer({ headers }: Marks): SeenProxy[] {
  const server = headers.get('server') ?? '';
  const known = servers.find(([pattern]) => pattern.test(server));
  if (known === undefined) return [];
  const version = /\/(\d[\d.]*)/.exec(server)?.[1];
  const [, name, product] = known;
  return [
    {
      name: version === undefined ? name : `${name} ${version}`,
      ...(product === undefined ? {} : { product }),
      mark: `Server: ${server.slice(0, 60)}`,
    },
  ];
}

function fromOtherHeaders({ headers }: Marks): SeenProxy[] {
  const found: SeenProxy[] = [];
  const ray = headers.get('cf-ray');
  if (ray !== null) found.push({ name: 'Cloudflare', product: 'cloudflare', mark: 'CF-Ray' });
  for (const via of (headers.get('via') ?? '').split(',').map((entry) => entry.trim())) {
    if (via === '') continue;
    const known = servers.find(([pattern]) => pattern.test(via.replace(/^[\d.]+\s+/, '')));
    const [, name, product] = known ?? [undefined, via.replace(/^[\d.]+\s+/, '').slice(0, 40), undefined];
    found.push({ name, ...(product === undefined ? {} : { product }), mark: `Via: ${via.slice(0, 60)}` });
  }
  if (headers.has('x-envoy-upstream-service-time'))
    found.push({ name: 'Envoy', mark: 'x-envoy-upstream-service-time' });
  return found;
}

function fromPage({ status, headers, text }: Marks): SeenProxy[] {
  const type = headers.get('content-type') ?? '';
  if (status === 404 && type.startsWith('text/plain') && text === '404 page not found\n')
    return [{ name: 'Traefik', product: 'traefik', mark: 'its page for 404' }];
  const page = pages.find(([pattern]) => pattern.test(text));
  if (status < 400 || page === undefined) return [];
  const [, name, product] = page;
  return [{ name, ...(product === undefined ? {} : { product }), mark: `its page for ${status}` }];
}

/**
 * Names the proxies that a response passed, as far as they identify themselves.
 * @param marks a response
 * @see RFC 9110 sections 7.6.3 (Via) and 10.2.4 (Server)
 */
export function findProxies(marks: Marks): SeenProxy[] {
  return [...fromServer(marks), ...fromOtherHeaders(marks), ...fromPage(marks)];
}
