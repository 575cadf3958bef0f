import type { Judgement } from '../finding.ts';

/**
 * Lines that make a proxy redirect the endpoint, and what to write instead.
 * @param path path of the MCP endpoint
 */
export function redirectHints(path: string): NonNullable<Judgement['hints']> {
  const plain = path.replace(/\/+$/, '') || '/';
  return [
    {
      product: 'nginx',
      lines: `location ${plain} { proxy_pass http://127.0.0.1:8080; }  # not "location ${plain}/"`,
    },
    { product: 'caddy', lines: `handle ${plain}* { reverse_proxy 127.0.0.1:8080 }  # no redir` },
    { product: 'apache', lines: `ProxyPass ${plain} http://127.0.0.1:8080${plain}  # DirectorySlash Off` },
    {
      product: 'traefik',
      lines: `no redirectRegex or redirectScheme middleware on PathPrefix(\`${plain}\`)`,
    },
  ];
}
