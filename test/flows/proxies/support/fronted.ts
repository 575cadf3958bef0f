import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { GatehouseOptions } from '../../../../src/index.ts';
import type { SettingsInput } from '../../../../src/options.ts';
import { createCertificate } from '../../../support/certificate.ts';
import { freePort } from '../../../support/free-port.ts';
import { type RunningGatehouse, startGatehouse } from '../../../support/gatehouse.ts';
import { nodeProgram } from '../../../support/node-program.ts';
import { exampleConfiguration, type Form } from './example-files.ts';
import { type ProxyProgram, startProxy } from './proxy-program.ts';

/** A gatehouse with two routes behind an example of config/proxies, over TLS, and another site where the form has one. */
export interface Fronted {
  gatehouse: RunningGatehouse;
  /** Of the proxy: https://localhost and its port. */
  origin: string;
  /** Path of the public URL. */
  prefix: string;
  stop(): Promise<void>;
}

const backend = (mark: string) => nodeProgram('test/support/backend/server.ts', 'sound', mark);

/** Two programs that speak stdio, each a route. */
export const stdioRoutes = {
  notes: { backend: backend('of-notes') },
  files: { path: '/team/files', backend: backend('of-files') },
} satisfies SettingsInput['routes'];

/** What the site beside Gatehouse answers to everything. */
export const sitePage = '<html>our site</html>';

/** The path of the public URL of each form. */
export const prefixes: Record<Form, string> = { host: '', path: '/tools' };

/** One for all: of several with the same name, only the first would be tried. */
const certificate = createCertificate(['localhost']);
let trusted = false;

function trust(): void {
  if (trusted) return;
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
  trusted = true;
}

/**
 * Starts all of it. The certificate is trusted by this process from then on.
 * @param change what a test makes of the example
 * @param options of the gatehouse
 */
export async function startFronted(
  proxy: ProxyProgram,
  form: Form,
  change?: (text: string) => string,
  options: Partial<GatehouseOptions> = {},
): Promise<Fronted> {
  trust();
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(sitePage);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const listen = await freePort();
  const origin = `https://localhost:${listen}`;
  const prefix = prefixes[form];
  const gatehouse = await startGatehouse({
    publicUrl: `${origin}${prefix}`,
    trustedProxies: ['loopback'],
    routes: stdioRoutes,
    ...options,
  });
  const ports = { listen, upstream: Number(new URL(gatehouse.listensAt).port) };
  const closeSite = (): void => {
    site.close();
    site.closeAllConnections();
  };
  try {
    const sitePort = (site.address() as AddressInfo).port;
    const configuration = exampleConfiguration(proxy, form, certificate, sitePort, change);
    const stopProxy = await startProxy(proxy, ports, configuration);
    return {
      gatehouse,
      origin,
      prefix,
      async stop() {
        await stopProxy();
        await gatehouse.stop();
        closeSite();
      },
    };
  } catch (error) {
    await gatehouse.stop();
    closeSite();
    throw error;
  }
}
