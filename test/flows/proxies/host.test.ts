import { describe, expect, it, onTestFinished } from 'vitest';
import { proxyChecks } from '../../../src/doctor/proxy/proxy-checks.ts';
import { examined } from '../../doctor/support/examine.ts';
import { routeNames, startServer } from '../../doctor/support/server.ts';
import { freePort } from '../../support/free-port.ts';
import { hintOf } from './support/behind.ts';
import { configuration } from './support/configurations.ts';
import { isProxyInstalled, type ProxyProgram, startProxy } from './support/proxy-program.ts';

/** A server that believes what `Host` says, as many do. */
async function startTrusting(): Promise<number> {
  const server = await startServer({
    fault: (sound) => {
      for (const name of [routeNames.protectedResource, routeNames.protectedResourceAtRoot])
        sound.change(name, (_reply, { headers }) => ({
          json: {
            resource: `http://${headers.host}/mcp`,
            authorization_servers: [`http://${headers.host}`],
          },
        }));
      sound.change(routeNames.authorizationServer, ({ json }, { headers }) => ({
        json: { ...(json as object), issuer: `http://${headers.host}` },
      }));
      sound.change('POST /mcp', (reply, { headers }) => ({
        ...reply,
        headers: {
          'www-authenticate': `Bearer resource_metadata="http://${headers.host}/.well-known/oauth-protected-resource/mcp"`,
        },
      }));
    },
  });
  return Number(new URL(server.origin).port);
}

async function examineThrough(program: ProxyProgram, upstream: number, within: string) {
  const listen = await freePort();
  const stop = await startProxy(program, { listen, upstream }, configuration(program, { within }, ''));
  onTestFinished(stop);
  return examined(`http://localhost:${listen}/mcp`, proxyChecks(), { only: ['PROXY-HOST'] });
}

const proxies: [ProxyProgram, 'nginx' | 'apache' | 'caddy', string][] = [
  ['nginx', 'nginx', ''],
  ['apache2', 'apache', ''],
  ['caddy', 'caddy', 'header_up Host {upstream_hostport}'],
];

describe('a server that believes Host', () => {
  it.each(proxies.filter(([program]) => isProxyInstalled(program)))(
    'behind %s publishes the inner name: found, and mended by the lines of the hint',
    async (program, product, fault) => {
      const upstream = await startTrusting();
      const before = await examineThrough(program, upstream, fault);
      const found = before.finding('PROXY-HOST');
      expect(found.verdict).toBe('fail');
      expect(found.saw).toContain(`127.0.0.1:${upstream}`);
      const after = await examineThrough(program, upstream, hintOf(found, product));
      expect(after.finding('PROXY-HOST').saw).toContain('can be used from outside');
    },
  );
});
