import type { Finding, ProxyProduct } from '../../../../src/doctor/check.ts';
import type { Report } from '../../../../src/doctor/examine.ts';
import { proxyChecks } from '../../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../../../doctor/support/examine.ts';
import { freePort } from '../../../support/free-port.ts';
import { type RunningGatehouse, startGatehouse } from '../../../support/gatehouse.ts';
import { approve, authorization, redeem, register } from '../../../support/oauth.ts';
import { configuration } from './configurations.ts';
import { type Configuration, type ProxyProgram, startProxy } from './proxy-program.ts';

/** A gatehouse whose public URL is that of a proxy, and a login to it. */
export interface Behind {
  gatehouse: RunningGatehouse;
  /** Examines it through a proxy with this configuration, as `gatehouse doctor --proxy` does. */
  through(
    program: ProxyProgram,
    set: Configuration,
    options?: { only?: readonly string[]; login?: boolean; path?: string; idleSeconds?: number },
  ): Promise<Report & { finding(id: string): Finding; bad(): string[] }>;
  stop(): Promise<void>;
}

/** How long silent streams are watched: longer than the cuts of the tests. */
const idleSeconds = 2;

/** Keeps no line open: the next proxy takes the port of this one, and lines to this one would be cut. */
const fetchOnce: typeof fetch = (url, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('connection', 'close');
  return fetch(url, { ...init, headers });
};

/**
 * Starts a gatehouse behind a port that proxies take in turn, and logs in through a sound one.
 * @param publicPath the path under which the proxies publish it
 */
export async function startBehind(publicPath = ''): Promise<Behind> {
  const listen = await freePort();
  const publicUrl = `http://localhost:${listen}${publicPath}`;
  const gatehouse = await startGatehouse({ publicUrl });
  const upstream = Number(new URL(gatehouse.listensAt).port);
  const ports = { listen, upstream };
  const stopFirst = await startProxy('nginx', ports, configuration('nginx'));
  const { client_id: clientId } = await register(gatehouse.url);
  const flow = authorization(gatehouse, clientId);
  const code = (await approve(flow)).searchParams.get('code') ?? '';
  const answer = await redeem(gatehouse.url, flow, code);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  await stopFirst();
  return {
    gatehouse,
    async through(program, set, { only, login = true, path, idleSeconds: idle = idleSeconds } = {}) {
      const stopProxy = await startProxy(program, ports, set);
      try {
        const checks = proxyChecks({
          idleSeconds: idle,
          ...(login ? { accessToken: async () => token } : {}),
        });
        const url = path === undefined ? gatehouse.mcpUrl : new URL(path, gatehouse.mcpUrl).href;
        return await examined(url, checks, { fetch: fetchOnce, ...(only === undefined ? {} : { only }) });
      } finally {
        await stopProxy();
      }
    },
    stop: () => gatehouse.stop(),
  };
}

/**
 * The lines a finding gives for a product.
 * @param found a finding that fails or warns
 */
export function hintOf({ id, hints = [] }: Finding, wanted: ProxyProduct): string {
  const hint = hints.find(({ product }) => product === wanted);
  if (hint === undefined) throw new Error(`${id} has no hint for ${wanted}`);
  return hint.lines;
}
