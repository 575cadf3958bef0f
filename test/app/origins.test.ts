import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { originAllowed } from '../../src/app/origins.ts';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { sendRaw } from '../support/raw-http.ts';

let local: RunningGatehouse;
let published: RunningGatehouse;
beforeAll(async () => {
  local = await startGatehouse();
  published = await startGatehouse({ publicUrl: 'https://mcp.example.com', trustedProxies: ['loopback'] });
});
afterAll(async () => {
  await local.stop();
  await published.stop();
});

const places = ['/.well-known/oauth-authorization-server', '/mcp', '/authorize', '/nowhere'];

describe('a request', () => {
  it.each([
    ['a port that is none', ['Host: evil.com:fake@legit']],
    ['a user in its host', ['Host: user@localhost']],
    ['a path in its host', ['Host: localhost/evil']],
    ['a blank in its host', ['Host: localhost evil.example']],
    ['two hosts in one field', ['Host: localhost, evil.example']],
    ['two Host fields', ['Host: localhost', 'Host: evil.example']],
    ['the same Host twice', ['Host: localhost', 'Host: localhost']],
    ['an empty Host', ['Host:']],
    ['no Host', []],
    ['markup in its host', ['Host: <script>']],
    ['a list of brackets', ['Host: [::1]evil']],
  ])('with %s is 400 (T-107)', async (_what, fields) => {
    for (const gatehouse of [local, published]) {
      for (const place of places) {
        const answer = await sendRaw(gatehouse.listensAt, [`GET ${place} HTTP/1.1`, ...fields]);
        expect(answer.status).toBe(400);
        expect(answer.body).not.toMatch(/evil|<script/);
      }
    }
  });

  it('without a Host in HTTP/1.0 is 400 (T-107)', async () => {
    expect((await sendRaw(local.listensAt, ['GET /mcp HTTP/1.0'])).status).toBe(400);
  });

  it.each(['http://evil.example/mcp', 'https://mcp.example.com/mcp', 'mcp', '*'])(
    'line with the target %s is 400 (T-107)',
    async (target) => {
      for (const gatehouse of [local, published]) {
        const { host } = new URL(gatehouse.url);
        const answer = await sendRaw(gatehouse.listensAt, [`GET ${target} HTTP/1.1`, `Host: ${host}`]);
        expect(answer.status).toBe(400);
      }
    },
  );

  it('under a name that is not this machine does not reach an installation on localhost: 421', async () => {
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      '192.168.1.1',
      'localhost.',
    ])
      expect((await sendRaw(local.listensAt, ['GET /jwks HTTP/1.1', `Host: ${host}`])).status).toBe(421);
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:9', '[::1]:80'])
      expect((await sendRaw(local.listensAt, ['GET /jwks HTTP/1.1', `Host: ${host}`])).status).toBe(200);
  });

  it('under any well-formed name reaches an installation behind a proxy, which chooses the name', async () => {
    for (const host of ['mcp.example.com', 'mcp.example.com:443', 'gatehouse:3000', '10.0.0.7:3000'])
      expect((await sendRaw(published.listensAt, ['GET /jwks HTTP/1.1', `Host: ${host}`])).status).toBe(200);
  });
});

describe('an origin', () => {
  const onLocalhost = {
    publicUrl: 'http://localhost:3000',
    allowedOrigins: ['https://inspector.example'],
    direct: true,
  };
  const onTheWeb = { ...onLocalhost, publicUrl: 'https://mcp.example.com/tools', direct: false };

  it.each([
    ['http://localhost:3000', true, false],
    ['http://localhost:6274', true, false],
    ['http://127.0.0.1:1', true, false],
    ['https://mcp.example.com', false, true],
    ['https://inspector.example', true, true],
    ['https://INSPECTOR.example', false, false],
    ['https://inspector.example.evil.example', false, false],
    ['http://localhost.evil.example', false, false],
    ['http://localhost:3000/', false, false],
    ['null', false, false],
    ['', false, false],
    ['http://mcp.example.com', false, false],
    ['https://mcp.example.com:8443', false, false],
  ])('%j may call: on localhost %s, on the web %s (T-114)', (origin, locally, publicly) => {
    expect(originAllowed(origin, onLocalhost)).toBe(locally);
    expect(originAllowed(origin, onTheWeb)).toBe(publicly);
  });
});
