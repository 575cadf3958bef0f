import type { Judgement } from '../finding.ts';

const prefix = '/.well-known/oauth-protected-resource';

/** Lines that lead the well-known places, which stand at the root of the origin, to the server. */
export const wellKnownHints: NonNullable<Judgement['hints']> = [
  { product: 'nginx', lines: `location ^~ ${prefix} { proxy_pass http://127.0.0.1:8080; }` },
  { product: 'caddy', lines: `handle ${prefix}* { reverse_proxy 127.0.0.1:8080 }` },
  {
    product: 'traefik',
    lines: `rule: PathPrefix(\`${prefix}\`)  with a priority above the site's own router`,
  },
  { product: 'apache', lines: `ProxyPass ${prefix} http://127.0.0.1:8080${prefix}` },
];

/** Lines that tell the server its public address. */
export const publicAddressHints: NonNullable<Judgement['hints']> = [
  {
    product: 'nginx',
    lines:
      'proxy_set_header Host $host; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $host;',
  },
  { product: 'caddy', lines: 'servers { trusted_proxies static <address of the proxy before Caddy> }' },
  { product: 'apache', lines: 'ProxyPreserveHost On\nRequestHeader set X-Forwarded-Proto "https"' },
  { product: 'traefik', lines: 'forwardedHeaders: { trustedIPs: [<address of the proxy before Traefik>] }' },
];
