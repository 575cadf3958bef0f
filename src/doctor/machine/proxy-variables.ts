import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import type { Check } from '../check.ts';
import { pass, warn } from '../judgements.ts';
import type { Machine } from './machine.ts';

/** A proxy as the environment names it. */
interface ProxyVariable {
  name: string;
  /** Without user name and password. */
  shown: string;
}

function findProxies(env: Machine['env']): ProxyVariable[] {
  return ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'].flatMap(
    (name) => {
      const value = env[name];
      if (!value) return [];
      const url = URL.parse(value) ?? URL.parse(`http://${value}`);
      return [{ name, shown: url === null ? 'no URL' : `${url.protocol}//${url.host}` }];
    },
  );
}

/** An entry without its port and dots: a lone `::1` has no port. */
function hostOf(entry: string): string {
  const hasPort = /^(\[.*\]|[^:]*):\d+$/.test(entry);
  return (hasPort ? entry.replace(/:\d+$/, '') : entry)
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\./, '')
    .toLowerCase();
}

/** @returns whether `NO_PROXY` exempts a host: by name, by ending, or all of them */
export function isExempt(host: string, noProxy: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || bare === hostOf(entry) || bare.endsWith(`.${hostOf(entry)}`));
}

/**
 * Returns true if the proxy of the environment is used, and left out for loopback. Node's own `fetch` reads these
 * variables only with `NODE_USE_ENV_PROXY=1` or `--use-env-proxy`.
 * @param machine the machine
 */
export function proxyVariablesCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-PROXY-VARIABLES',
    section: 'machine',
    title: 'Requests take the proxy they should, and loopback takes none',
    clause: 'Node.js command line, NODE_USE_ENV_PROXY',
    async judge({ url }) {
      const { env, nodeFlags } = machine;
      const proxies = findProxies(env);
      const host = URL.parse(url)?.hostname ?? '';
      if (proxies.length === 0) return pass('No proxy variable is set.');
      const named = proxies.map(({ name, shown }) => `${name}=${shown}`).join(', ');
      const used = env.NODE_USE_ENV_PROXY === '1' || nodeFlags.includes('--use-env-proxy');
      const noProxy = env.no_proxy ?? env.NO_PROXY ?? '';
      if (!used)
        return isLoopbackHost(host) || isExempt(host, noProxy)
          ? pass(`${named}; ${host} does not need it.`)
          : warn(
              `${named} is set, but Node.js does not use it, so ${host} is asked directly.`,
              'Where the network lets nothing out but through the proxy: export NODE_USE_ENV_PROXY=1. Where it does: nothing to do, or add the host to NO_PROXY.',
            );
      const missing = ['localhost', '127.0.0.1', '::1'].filter((loopback) => !isExempt(loopback, noProxy));
      if (missing.length === 0) return pass(`${named} is used; NO_PROXY leaves loopback out.`);
      return warn(
        `${named} is used, and NO_PROXY does not leave out ${missing.join(', ')}: servers on this machine are asked through the proxy.`,
        `export NO_PROXY=${[noProxy, ...missing].filter(Boolean).join(',')}`,
      );
    },
  };
}
