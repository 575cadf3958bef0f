import type { Judgement, ProxyProduct } from '../check.ts';

/** Fault of a configuration. */
export type ProxyFault =
  | 'buffering'
  | 'compression'
  | 'idle_cut'
  | 'request_header_stripped'
  | 'response_header_stripped'
  | 'host'
  | 'redirect'
  | 'header_size'
  | 'body_size'
  | 'error_page'
  | 'caching'
  | 'prefix_stripped'
  | 'well_known';

/** Subject of the lines. */
export interface HintPlace {
  /** Path of the MCP server at the proxy: `/tools/mcp`. */
  path: string;
  /** The header that was lost. */
  header?: string;
}

/** Address of the server behind the proxy; the reader replaces it. */
export const upstreamPlaceholder = '127.0.0.1:8080';

type Lines = Partial<Record<ProxyProduct, (place: Required<HintPlace>) => string>>;

const upstream = `http://${upstreamPlaceholder}`;

const wellKnownPaths = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];

/** nginx names headers of requests in variables. */
const nginxVariable = (header: string): string => `$http_${header.toLowerCase().replaceAll('-', '_')}`;

/**
 * nginx lines stand in the `location` of the server, Caddy lines in its `reverse_proxy` block, HAProxy lines in the
 * frontend or backend (`tune.` in `global`), unless they open another.
 */
const lines: Record<ProxyFault, Lines> = {
  buffering: {
    nginx: () => 'proxy_buffering off;\nproxy_cache off;',
    caddy: () => 'flush_interval -1',
    traefik: () => '# take the buffering middleware off the router of this server',
    apache: ({ path }) =>
      `SetEnvIf Request_URI "^${path}" no-gzip\n# with ModSecurity: SecResponseBodyAccess Off`,
    cloudflare: () => '# quick tunnels (cloudflared tunnel --url) hold streams back: use a named tunnel',
  },
  compression: {
    nginx: () => 'gzip off;',
    caddy: ({ path }) => `@compressed not path ${path}*\nencode @compressed gzip zstd`,
    traefik: () => '- "traefik.http.middlewares.compressed.compress.excludedcontenttypes=text/event-stream"',
    apache: ({ path }) => `SetEnvIf Request_URI "^${path}" no-gzip`,
    haproxy: () => '# in compression type: leave text/event-stream out',
    cloudflare: ({ path }) =>
      `# Rules > Compression Rules: URI Path starts with ${path} -> Disable compression`,
  },
  idle_cut: {
    nginx: () => 'proxy_read_timeout 1h;\nproxy_send_timeout 1h;',
    caddy: () => 'transport http {\n\tread_timeout 1h\n}',
    traefik: () => '--entryPoints.websecure.transport.respondingTimeouts.writeTimeout=0s',
    apache: () => 'ProxyTimeout 3600',
    haproxy: () => 'timeout client 1h\ntimeout server 1h',
    cloudflare: () => '# cannot be lengthened: have the server write a comment line every 25 s',
  },
  request_header_stripped: {
    nginx: ({ header }) => `proxy_set_header ${header} ${nginxVariable(header)};`,
    caddy: ({ header }) => `header_up ${header} {http.request.header.${header}}`,
    traefik: ({ header }) =>
      `# take the middleware off that sets customRequestHeaders.${header}, or basicAuth`,
    apache: ({ header }) =>
      `# remove: RequestHeader unset ${header}; for CGI and FastCGI add: CGIPassAuth On`,
    haproxy: ({ header }) => `# remove: http-request del-header ${header}`,
    cloudflare: ({ header }) => `# Rules > Transform Rules > Modify Request Header: do not remove ${header}`,
  },
  response_header_stripped: {
    nginx: ({ header }) => `# remove: proxy_hide_header ${header};\nproxy_pass_header ${header};`,
    caddy: ({ header }) => `# remove: header_down -${header}`,
    traefik: ({ header }) => `# take the middleware off that sets customResponseHeaders.${header}`,
    apache: ({ header }) => `# remove: Header unset ${header}`,
    haproxy: ({ header }) => `# remove: http-response del-header ${header}`,
    cloudflare: ({ header }) => `# Rules > Transform Rules > Modify Response Header: do not remove ${header}`,
  },
  host: {
    nginx: () =>
      'proxy_set_header Host $http_host;\nproxy_set_header X-Forwarded-Host $http_host;\nproxy_set_header X-Forwarded-Proto $scheme;',
    caddy: () => 'header_up Host {http.request.hostport}',
    traefik: () => '- "traefik.http.services.mcp.loadbalancer.passhostheader=true"',
    apache: () => 'ProxyPreserveHost On\nRequestHeader set X-Forwarded-Proto expr=%{REQUEST_SCHEME}',
    haproxy: () =>
      '# remove: http-request set-header Host\nhttp-request set-header X-Forwarded-Proto https if { ssl_fc }',
    cloudflare: () => '# Origin Rules: leave the Host Header as it is',
  },
  redirect: {
    nginx: ({ path }) => `location = ${path} {\n  proxy_pass ${upstream};\n}`,
    caddy: ({ path }) =>
      `@mcp path ${path} ${path}/\nhandle @mcp {\n\treverse_proxy ${upstreamPlaceholder}\n}`,
    traefik: () => '# take redirectRegex off the router of this server; let clients use the https URL',
    apache: ({ path }) => `ProxyPass ${path} ${upstream}${path}\nDirectorySlash Off`,
    haproxy: ({ path }) => `# leave out of http-request redirect: unless { path_beg ${path} }`,
    cloudflare: ({ path }) => `# Rules > Redirect Rules: exclude URI Path starting with ${path}`,
  },
  header_size: {
    nginx: () => 'large_client_header_buffers 4 32k;',
    caddy: () => 'servers {\n\tmax_header_size 32KB\n}',
    apache: () => 'LimitRequestFieldSize 32768',
    haproxy: () => 'tune.bufsize 32768',
  },
  body_size: {
    nginx: () => 'client_max_body_size 10m;',
    caddy: () => 'request_body {\n\tmax_size 10MB\n}',
    traefik: () => '- "traefik.http.middlewares.limit.buffering.maxRequestBodyBytes=10485760"',
    haproxy: () => '# remove: http-request deny if { req.body_size gt … }',
  },
  error_page: {
    nginx: () => 'proxy_intercept_errors off;',
    caddy: () => '# remove handle_response and handle_errors around the reverse_proxy of this server',
    traefik: () => '# take the errors middleware off the router of this server',
    apache: () => 'ProxyErrorOverride Off',
    haproxy: () => '# remove: http-response return for the status of errors',
    cloudflare: () =>
      '# WAF > Custom rules: Skip for this path (bot fight mode, "Block AI bots", managed challenge)',
  },
  caching: {
    nginx: () => 'proxy_cache off;',
    apache: ({ path }) => `CacheDisable ${path}`,
    haproxy: () => '# remove: http-request cache-use and http-response cache-store',
    cloudflare: ({ path }) => `# Caching > Cache Rules: URI Path starts with ${path} -> Bypass cache`,
  },
  prefix_stripped: {
    nginx: ({ path }) => `location ${path} {\n  proxy_pass ${upstream};   # no path behind the port\n}`,
    caddy: ({ path }) => `handle ${path}* {   # not handle_path\n\treverse_proxy ${upstreamPlaceholder}\n}`,
    traefik: () => '# take StripPrefix off the router of this server',
    apache: ({ path }) => `ProxyPass ${path} ${upstream}${path}`,
    haproxy: ({ path }) => `# remove: http-request replace-path and set-path for ${path}`,
  },
  well_known: {
    nginx: () => wellKnownPaths.map((path) => `location ^~ ${path} { proxy_pass ${upstream}; }`).join('\n'),
    caddy: () =>
      `@wellknown path ${wellKnownPaths.map((path) => `${path}*`).join(' ')}\nhandle @wellknown {\n\treverse_proxy ${upstreamPlaceholder}\n}`,
    traefik: () =>
      `- "traefik.http.routers.wellknown.rule=${wellKnownPaths.map((path) => `PathPrefix(\`${path}\`)`).join(' || ')}"\n- "traefik.http.routers.wellknown.priority=1000"`,
    apache: () => wellKnownPaths.map((path) => `ProxyPass ${path} ${upstream}${path}`).join('\n'),
    haproxy: () => wellKnownPaths.map((path) => `use_backend mcp if { path_beg ${path} }`).join('\n'),
    cloudflare: () => '# send /.well-known/oauth-* of the host to the same origin as the MCP server',
  },
};

/**
 * The lines to change, by product: those of the products seen; all if none gave itself away.
 * @param fault what is wrong
 * @param place path of the server, and the header that was lost
 * @param seen products on the way
 */
export function proxyHints(
  fault: ProxyFault,
  place: HintPlace,
  seen: readonly ProxyProduct[],
): NonNullable<Judgement['hints']> {
  const all = (Object.keys(lines[fault]) as ProxyProduct[]).map((product) => ({
    product,
    lines: lines[fault][product]?.({ header: '', ...place }) ?? '',
  }));
  const chosen = all.filter(({ product }) => seen.includes(product));
  return chosen.length > 0 ? chosen : all;
}
