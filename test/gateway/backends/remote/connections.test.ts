import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createNearLookup, isNear } from '../../../../src/gateway/backends/remote/connections.ts';
import { Wire } from '../../../../src/gateway/backends/remote/wire.ts';
import { createCertificate } from '../../../support/certificate.ts';

// Rules of src/gateway/backends/remote/connections.ts, through the wire that uses it.

function reach(url: string, allowsPlainHttp = false): Wire {
  const times = { connectMs: 2000, headMs: 5000, bodyMs: 5000 };
  const connections = new Wire({ url: new URL(url), ...times, allowsPlainHttp });
  onTestFinished(() => connections.close());
  return connections;
}

/** What comes of a request: the status, or why there is none. */
function ask(connections: Wire): Promise<string> {
  return new Promise((resolve) => {
    connections.send(
      { method: 'GET', path: '/', headers: [] },
      {
        head: (answer) => answer.read({ data: () => undefined, ended: () => resolve(String(answer.status)) }),
        failed: ({ reason, code }) => resolve(`${reason} ${code}`),
      },
    );
  });
}

async function serveTls(hosts: string[], isTrusted: boolean) {
  const { key, cert } = createCertificate(hosts);
  const seen: { name: unknown; isResumed: boolean }[] = [];
  const server = createTlsServer({ key, cert }, (asked, response) => {
    const socket = asked.socket as import('node:tls').TLSSocket;
    seen.push({ name: (socket as { servername?: unknown }).servername, isResumed: socket.isSessionReused() });
    response.writeHead(204, { connection: 'close' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  if (isTrusted) setDefaultCACertificates([...known, cert]);
  return { port: (server.address() as { port: number }).port, seen };
}

const known = getCACertificates('default');
afterEach(() => {
  setDefaultCACertificates(known);
  vi.unstubAllEnvs();
});

it('connections with TLS ask for the host by its name, and take up again what was agreed', async () => {
  const { port, seen } = await serveTls(['localhost'], true);
  const connections = reach(`https://localhost:${port}/`);
  expect([await ask(connections), await ask(connections)]).toEqual(['204', '204']);
  expect(seen.map(({ name }) => name)).toEqual(['localhost', 'localhost']);
  expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true]);
});

it.each([
  ['for its address', ['127.0.0.1'], true, '204'],
  ['for another host', ['localhost'], true, 'backend_certificate_invalid ERR_TLS_CERT_ALTNAME_INVALID'],
  [
    'that nobody vouches for',
    ['127.0.0.1'],
    false,
    'backend_certificate_invalid DEPTH_ZERO_SELF_SIGNED_CERT',
  ],
])('a certificate %s is judged, whatever the environment says', async (_what, hosts, isTrusted, found) => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { port } = await serveTls(hosts, isTrusted);
  expect(await ask(reach(`https://127.0.0.1:${port}/`))).toBe(found);
});

it('plain http reaches this machine and private networks, and no other place unless its operator says why', () => {
  const refused = 'https';
  expect(() => reach('http://93.184.215.14/')).toThrow(refused);
  expect(() => reach('http://[2606:2800::1]/')).toThrow(refused);
  expect(() => reach('http://93.184.215.14/', true)).not.toThrow();
  expect(() => reach('https://93.184.215.14/')).not.toThrow();
  expect(() => reach('http://[::1]/')).not.toThrow();
});

it('connections nobody uses end, and all of them when they are closed', async () => {
  let open = 0;
  const server = createServer((socket) => {
    open++;
    socket.on('close', () => open--);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write('HTTP/1.1 204 No\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const connections = reach(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  expect(await Promise.all([ask(connections), ask(connections), ask(connections)])).toEqual([
    '204',
    '204',
    '204',
  ]);
  expect(open).toBe(3);
  expect(await ask(connections)).toBe('204');
  expect(open).toBe(3);
  await expect.poll(() => open, { timeout: 6000 }).toBe(0);
  expect(await ask(connections)).toBe('204');
  connections.close();
  await expect.poll(() => open).toBe(0);
});

describe('the look-up of addresses', () => {
  const addressesOf: Record<string, string[]> = {
    'notes.internal': ['172.18.0.3', 'fd00::3'],
    'mixed.example': ['10.0.0.1', '93.184.215.14'],
    'public.example': ['93.184.215.14'],
    'metadata.internal': ['169.254.169.254'],
  };

  const find = createNearLookup((host, _options, answer) => {
    const found = addressesOf[host];
    if (found)
      answer(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    else answer(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
  });
  const ask = (host: string, all = false): Promise<unknown> =>
    new Promise((resolve) => find(host, { all }, (error, ...found) => resolve(error?.code ?? found)));

  it('a host without TLS is this machine or one of a private network, with all of its addresses', async () => {
    expect(await ask('notes.internal')).toEqual(['172.18.0.3', 4]);
    expect(await ask('notes.internal', true)).toEqual([
      [
        { address: '172.18.0.3', family: 4 },
        { address: 'fd00::3', family: 6 },
      ],
    ]);
    for (const host of ['mixed.example', 'public.example', 'metadata.internal'])
      expect(await ask(host)).toBe('PUBLIC_ADDRESS');
    expect(await ask('nowhere.example')).toBe('ENOTFOUND');
    expect(['127.0.0.1', '::1', '192.168.1.1', '8.8.8.8', '0.0.0.0'].filter(isNear)).toEqual([
      '127.0.0.1',
      '::1',
      '192.168.1.1',
    ]);
  });
});
