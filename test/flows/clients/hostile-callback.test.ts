import { readdir, readFile, readlink } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { startAuthorizationServer, startMcpServer } from '../../client/support/protected-server.ts';
import { createVictim } from './support/victim.ts';

/** Sends one request to a port of 127.0.0.1. @returns its status; `gone` where the connection was refused or cut */
function send(port: number, options: RequestOptions): Promise<number | 'gone'> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, agent: false, ...options }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve('gone')).end();
  });
}

/** Local addresses of the sockets that a process listens on, in hexadecimal as Linux writes them. */
async function listeningAddresses(pid: number): Promise<string[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')),
  );
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
  );
  return tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && links.includes(`socket:[${inode}]`))
    .map(([, local = '']) => local.replace(/:.*$/, ''));
}

const loopback = ['0100007F', '00000000000000000000000001000000'];

describe('the listener of gatehouse login', () => {
  it('takes the answer of its own login once, whoever else talks to it (T-187)', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    const victim = await createVictim();
    const { login, url } = await victim.startLogin(mcp.url);
    const asked = new URL(url).searchParams;
    const port = Number(new URL(asked.get('redirect_uri') ?? '').port);
    const state = asked.get('state') ?? '';
    const forged = `/callback?${new URLSearchParams({ code: 'forged', state, iss: as.origin })}`;

    expect(await send(port, { path: forged, method: 'POST' })).toBe(405);
    expect(await send(port, { path: forged, headers: { host: `evil.example:${port}` } })).toBe(421);
    expect(
      await send(port, { path: `http://evil.example${forged}`, headers: { host: 'evil.example' } }),
    ).toBe(421);
    expect(await send(port, { path: '/callback?code=forged' })).toBe(400);
    expect(await send(port, { path: '/callback?code=forged&state=guessed' })).toBe(400);
    expect(await send(port, { path: `${forged}&state=${state}` })).toBe(400);
    expect([431, 'gone']).toContain(await send(port, { path: `/callback?state=${'x'.repeat(100_000)}` }));
    expect(await send(port, { path: '/' })).toBe(404);
    expect(as.asked()).not.toContain('POST /token');

    await fetch(url);
    expect(await login.ended, login.written.stderr).toBe(exitCodes.ok);
    expect(await send(port, { path: forged })).toBe('gone');
    expect(as.asked().filter((one) => one === 'POST /token')).toHaveLength(1);
  });

  it.each([
    ['with another issuer', { iss: 'https://evil.example', error_description: 'Call 555-0100' }],
    ['without the issuer that the server always names', { error_description: 'Call 555-0100' }],
  ])('shows nothing of an error %s (T-187)', async (_, parameters) => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    const victim = await createVictim();
    const { login, url } = await victim.startLogin(mcp.url);
    const asked = new URL(url).searchParams;
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.search = String(
      new URLSearchParams({ error: 'access_denied', state: asked.get('state') ?? '', ...parameters }),
    );
    const page = await (await fetch(back)).text();
    expect(await login.ended).toBe(exitCodes.unreachable);
    expect(`${page} ${login.written.stderr}`).not.toContain('555-0100');
    expect(as.asked()).not.toContain('POST /token');
  });

  it.runIf(process.platform === 'linux')(
    'is all the client listens on, and it is on loopback: there is no inspector to reach (T-193)',
    async () => {
      const as = await startAuthorizationServer();
      const mcp = await startMcpServer(as);
      const victim = await createVictim();
      const { login, url } = await victim.startLogin(mcp.url);
      const addresses = await listeningAddresses(login.process.pid ?? 0);
      expect(addresses.length).toBeGreaterThan(0);
      expect(addresses.filter((address) => !loopback.includes(address))).toEqual([]);
      await fetch(url);
      await login.ended;

      const bridge = victim.start('connect', mcp.url);
      bridge.process.stdin?.write(
        `${JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'h', version: '1' },
          },
        })}\n`,
      );
      await bridge.waitFor('stdout', /"id":1/);
      expect(await listeningAddresses(bridge.process.pid ?? 0)).toEqual([]);
    },
  );
});
