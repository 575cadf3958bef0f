import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, isAbsolute, join } from 'node:path';
import {
  browserCommand,
  findPortHolder,
  readSurroundings,
  type Surroundings,
} from '../../client/node/building-blocks.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { type Check, fail, type Judgement, pass, skip, warn } from '../check.ts';
import { hostChecks } from './hosts/host-checks.ts';
import type { Machine } from './machine.ts';
import { locksCheck, storeCheck, twoStoresCheck } from './store.ts';
import { trustCheck } from './trust.ts';

/** Options of the checks. */
interface MachineOptions {
  /** The callback port that the user has chosen; a free one by default. */
  callbackPort?: number;
}

/** Checks of the client's machine, in the order of the report. They send nothing to the server. */
export function machineChecks(machine: Machine, options: MachineOptions = {}): readonly Check[] {
  return [
    runtimeCheck(machine),
    storeCheck(machine),
    twoStoresCheck(machine),
    locksCheck(machine),
    callbackPortCheck(options.callbackPort),
    browserCheck(machine),
    proxyVariablesCheck(machine),
    trustCheck(machine),
    ...hostChecks(machine),
  ];
}

/** The oldest supported version of Node.js, as in `engines` of package.json. */
const oldest = [22, 12] as const;

/** Checks the version of Node.js. It asks no registry, so nobody learns of the examination. */
export function runtimeCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-RUNTIME',
    section: 'machine',
    title: 'Node.js is new enough',
    clause: 'package.json, engines',
    async judge() {
      const [major = 0, minor = 0] = machine.nodeVersion.split('.').map(Number);
      const enough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
      if (enough) return pass(`Node.js ${machine.nodeVersion} on ${machine.platform}.`);
      return fail(
        `Node.js ${machine.nodeVersion} is older than ${oldest.join('.')}.`,
        `Install Node.js ${oldest.join('.')} or later.`,
      );
    },
  };
}

const names: Record<Exclude<Surroundings['place'], 'ci'>, string> = {
  codespaces: ' This is GitHub Codespaces.',
  ssh: ' This is an SSH session.',
  wsl: ' This is WSL.',
  container: ' This is a container.',
  local: '',
};

/** Places from which the user's browser may not reach the loopback of this machine. */
const elsewhere: readonly Surroundings['place'][] = ['codespaces', 'ssh', 'container'];

/**
 * Checks how a login reaches a browser. A machine without a browser is fine, because other methods exist; a configured
 * browser that is missing is not.
 * @see RFC 8252 section 7.3; RFC 8628 section 1 (CL-6)
 */
export function browserCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-BROWSER',
    section: 'machine',
    title: 'A browser can be opened here, and can come back',
    clause: 'RFC 8252 section 7.3',
    async judge() {
      const { env, platform, root } = machine;
      const { place, browser } = readSurroundings(env, platform, (path) => existsSync(join(root, path)));
      if (place === 'ci')
        return skip(
          'Nobody sits at this machine: a login is one without a person (gatehouse login --grant client_credentials).',
        );
      const { command } = browserCommand('http://127.0.0.1/', platform, env);
      if (browser && !isInstalled(command, machine))
        return warn(
          `No browser can be opened: ${command} is not installed.${names[place]}`,
          `Install ${command}, or name a browser: BROWSER=/path/to/browser. Without one, open the printed address in any browser and paste the address it ends at, or use --device.`,
        );
      if (!browser)
        return skip(
          `There is no screen here.${names[place]} A login asks with a code for another device where the server offers that, else you paste the address at which a browser elsewhere ends.`,
        );
      if (elsewhere.includes(place))
        return skip(
          `${command} can be started, but the browser may be on another machine and not come back to this one.${names[place]} Then paste the address it ends at, or forward a port: ssh -L PORT:127.0.0.1:PORT with --callback-port PORT.`,
        );
      return pass(`${command} opens the browser, which comes back to 127.0.0.1.${names[place]}`);
    },
  };
}

/**
 * Returns true if a program exists, looked up as a shell does.
 * @param command a name, or a path
 * @param machine its `PATH`
 */
export function isInstalled(command: string, { env, platform }: Pick<Machine, 'env' | 'platform'>): boolean {
  if (isAbsolute(command)) return existsSync(command);
  const endings = platform === 'win32' ? ['', '.exe', '.cmd'] : [''];
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .some((folder) => endings.some((ending) => existsSync(join(folder, command + ending))));
}

/** The port, or the reason why it cannot be used. */
type Bound = { port: number } | { code: string };

/** Listens on a port for a moment. */
function tryPort(host: string, port: number): Promise<Bound> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve({ code: 'code' in error ? String(error.code) : error.message }));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve({ port: bound }));
    });
  });
}

const absent = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

async function refused(host: string, port: number, code: string): Promise<Judgement> {
  const place = port === 0 ? `any port of ${host}` : `${host} port ${port}`;
  if (code !== 'EADDRINUSE')
    return fail(
      `${place} cannot be listened on (${code}), so no browser can come back.`,
      'Allow this user to listen on loopback (firewall, sandbox, security policy), or log in with --device or by pasting the address.',
    );
  const holder = await findPortHolder(port);
  const who = holder ? `${holder.name} (pid ${holder.pid}) listens there` : 'another process listens there';
  return fail(
    `${place} is taken: ${who}.`,
    holder
      ? `Stop pid ${holder.pid}, or choose another port: --callback-port. Without the option a free one is taken.`
      : `Find who it is (lsof -i :${port}), or choose another port: --callback-port. Without the option a free one is taken.`,
  );
}

/**
 * Checks that a browser can reach both loopback addresses on the same port.
 * @param fixedPort port that the user has chosen; a free one by default
 * @see RFC 8252 section 7.3 (CL-4, CL-7)
 */
export function callbackPortCheck(fixedPort = 0): Check {
  return {
    id: 'MACHINE-CALLBACK-PORT',
    section: 'machine',
    title: 'The answer of a login can come back to 127.0.0.1 and ::1',
    clause: 'RFC 8252 section 7.3',
    async judge() {
      const four = await tryPort('127.0.0.1', fixedPort);
      if ('code' in four) return refused('127.0.0.1', fixedPort, four.code);
      const six = await tryPort('::1', fixedPort);
      if ('port' in six)
        return pass(
          `127.0.0.1 and ::1 can both be listened on${fixedPort === 0 ? '' : `, port ${fixedPort}`}.`,
        );
      if (absent.has(six.code))
        return pass(`127.0.0.1 can be listened on; this machine has no ::1 (${six.code}).`);
      return refused('::1', fixedPort, six.code);
    },
  };
}

/** A proxy from an environment variable. */
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

/** Returns an entry without its port and dots; a single `::1` has no port. */
function hostOf(entry: string): string {
  const hasPort = /^(\[.*\]|[^:]*):\d+$/.test(entry);
  return (hasPort ? entry.replace(/:\d+$/, '') : entry)
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\./, '')
    .toLowerCase();
}

/** Returns true if `NO_PROXY` exempts a host: by name, by domain, or all hosts. */
export function isExempt(host: string, noProxy: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || bare === hostOf(entry) || bare.endsWith(`.${hostOf(entry)}`));
}

/**
 * Checks that the proxy of the environment is used, but not for loopback. Node's own `fetch` reads these variables only
 * with `NODE_USE_ENV_PROXY=1` or `--use-env-proxy`.
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
