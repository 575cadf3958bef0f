import { parse } from 'yaml';
import { type Form, readExample } from './example-files.ts';

/** The server a request is sent to: `host:port`, or undefined for none. */
export type Leads = (host: string, path: string) => string | undefined;

interface TraefikFile {
  http: {
    routers: Record<string, { rule: string; priority?: number; service: string; tls: object }>;
    services: Record<string, { loadBalancer: { servers: { url: string }[] } }>;
  };
}

/** Whether a rule of Traefik 3 fits, as far as it has Host, Path, PathPrefix, `&&`, `||` and brackets; throws at the rest. */
function fits(rule: string, host: string, path: string): boolean {
  const known: Record<string, (value: string) => boolean> = {
    Host: (value) => value === host,
    Path: (value) => value === path,
    PathPrefix: (value) => path.startsWith(value),
  };
  const tokens = rule.match(/[A-Za-z]+\(`[^`]*`\)|&&|\|\||[()]|\S/g) ?? [];
  const one = (): boolean => {
    const token = tokens.shift() ?? '';
    if (token === '(') {
      const value = either();
      if (tokens.shift() !== ')') throw new Error(`a bracket is open: ${rule}`);
      return value;
    }
    const [, name = '', value = ''] = /^([A-Za-z]+)\(`([^`]*)`\)$/.exec(token) ?? [];
    const matcher = known[name];
    if (!matcher) throw new Error(`unknown in a rule: ${token}`);
    return matcher(value);
  };
  const all = (): boolean => {
    let value = one();
    while (tokens[0] === '&&') {
      tokens.shift();
      value = one() && value;
    }
    return value;
  };
  function either(): boolean {
    let value = all();
    while (tokens[0] === '||') {
      tokens.shift();
      value = all() || value;
    }
    return value;
  }
  const value = either();
  if (tokens.length > 0) throw new Error(`a rule has no end: ${tokens.join(' ')}`);
  return value;
}

/** Where the example for Traefik leads: the router of the highest priority that fits. */
export function traefikLeads(form: Form): Leads {
  const { http } = parse(readExample('traefik', form)) as TraefikFile;
  const routers = Object.values(http.routers).sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  return (host, path) => {
    const router = routers.find(({ rule }) => fits(rule, host, path));
    const url = router && http.services[router.service]?.loadBalancer.servers[0]?.url;
    return url === undefined ? undefined : new URL(url).host;
  };
}

interface TunnelFile {
  tunnel: string;
  'credentials-file': string;
  ingress: { hostname?: string; path?: string; service: string }[];
}

/** Where the example for cloudflared leads: the first rule that fits; the last one has to fit all. */
export function tunnelLeads(form: Form): Leads {
  const { ingress } = parse(readExample('cloudflared', form)) as TunnelFile;
  const last = ingress.at(-1);
  if (last?.hostname !== undefined || last?.path !== undefined)
    throw new Error('cloudflared wants a last rule that fits everything');
  return (host, path) => {
    const rule = ingress.find(
      ({ hostname, path: pattern }) =>
        (hostname === undefined || hostname === host) &&
        (pattern === undefined || new RegExp(pattern).test(path)),
    );
    return rule?.service.startsWith('http://') ? new URL(rule.service).host : undefined;
  };
}
