// What is said on the way through the examples of config/proxies to get past the gate, or to another route.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { obtainTokens, tryAccess } from '../../support/oauth.ts';
import { patience } from '../../support/patience.ts';
import type { RawAnswer } from '../../support/raw-http.ts';
import { type Fronted, startFronted } from './support/fronted.ts';
import { isProxyInstalled, type ProxyProgram } from './support/proxy-program.ts';
import { sendRawTls } from './support/raw-tls.ts';

const programs: ProxyProgram[] = ['nginx', 'apache2', 'haproxy', 'caddy'];

/** Spellings of the path of the route `files`, and ways around the one of `notes`. */
const spellings = [
  '/tools/team/files/mcp',
  '/tools/team/files/mcp/',
  '/tools/notes/../team/files/mcp',
  '/tools/notes/mcp/../../team/files/mcp',
  '/tools/notes/%2e%2e/team/files/mcp',
  '/tools/notes/..%2fteam/files/mcp',
  '/tools/notes/..%252fteam/files/mcp',
  '/tools/notes/..;/team/files/mcp',
  '/tools/notes/mcp/%2e%2e%2f%2e%2e%2fteam%2ffiles%2fmcp',
  '/tools//team/files/mcp',
  '//tools/team/files/mcp',
  '/tools/team//files/mcp',
  '/tools/./team/files/mcp',
  '/tools/team%2ffiles/mcp',
  '/tools/team%2Ffiles%2Fmcp',
  '/tools%2fteam/files/mcp',
  '/tools\\team\\files\\mcp',
  '/tools/team/files\\mcp',
  '/TOOLS/team/files/mcp',
  '/tools/Team/Files/MCP',
  '/tools/team/files/%6dcp',
  '/tools/team/files/mcp;x=y',
  '/tools/team/files/mcp%00',
  '/tools/team/files/mcp%20',
  '/tools/team/files/mcp.json',
  '/tools/team/files/mcp?x',
  '/toolsmith/../tools/team/files/mcp',
  '/x/..%2ftools/team/files/mcp',
  '/.well-known/oauth-protected-resource/../../tools/team/files/mcp',
  '/.well-known/oauth-protected-resource/..%2f..%2ftools/team/files/mcp',
  '/team/files/mcp',
  'https://localhost/tools/team/files/mcp',
  'http://evil.example/tools/team/files/mcp',
];

const rpc = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
});

describe.each(programs.filter(isProxyInstalled))('through %s to routes below /tools', (program) => {
  let front: Fronted;
  let port: number;
  let host: string;
  beforeAll(async () => {
    front = await startFronted(program, 'path');
    host = new URL(front.origin).host;
    port = Number(new URL(front.origin).port);
  });
  afterAll(() => front?.stop());

  const post = (target: string, more: readonly string[] = []): Promise<RawAnswer> =>
    sendRawTls(
      port,
      [
        `POST ${target} HTTP/1.1`,
        `Host: ${host}`,
        'Content-Type: application/json',
        'Accept: application/json, text/event-stream',
        `Content-Length: ${rpc.length}`,
        ...more,
      ],
      rpc,
    );

  it('no spelling of a path opens a route without a token, or with that of another (T-110, T-162)', async () => {
    const mcpUrl = `${front.origin}/tools/notes/mcp`;
    const at = { url: front.gatehouse.url, mcpUrl };
    const { tokens } = await obtainTokens(at, { scope: 'mcp', scopes: ['mcp'] });
    expect(await tryAccess(mcpUrl, tokens.access_token)).toBe(200);
    const opened: string[] = [];
    for (const target of spellings)
      for (const more of [[], [`Authorization: Bearer ${tokens.access_token}`]]) {
        const { status, headers, body } = await post(target, more);
        if (body.includes('"result"') || headers.has('mcp-session-id')) opened.push(target);
        if (status === 401) expect(headers.get('www-authenticate')).toContain(`${front.origin}/.well-known/`);
      }
    expect(opened).toEqual([]);
  });

  it('headers that name another path, host or scheme change nothing that is said (T-106, T-110)', async () => {
    const lies = [
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Port: 1',
      'X-Forwarded-Prefix: /evil',
      'X-Forwarded-Server: evil.example',
      'Forwarded: host=evil.example;proto=http',
      'X-Original-URL: /tools/healthz',
      'X-Rewrite-URL: /tools/healthz',
      'X-Original-Host: evil.example',
    ];
    const refused = await post('/tools/team/files/mcp', lies);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(
      `resource_metadata="${front.origin}/.well-known/oauth-protected-resource/tools/team/files/mcp"`,
    );
    for (const path of [
      '/.well-known/oauth-protected-resource/tools/team/files/mcp',
      '/.well-known/oauth-authorization-server/tools',
    ]) {
      const read = (more: readonly string[]): Promise<RawAnswer> =>
        sendRawTls(port, [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...more]);
      const [plain, lied] = [await read([]), await read(lies)];
      expect([path, plain.status, lied.status]).toEqual([path, 200, 200]);
      expect(lied.body).toBe(plain.body);
      expect(lied.body).not.toContain('evil');
    }
  });

  it('a Host with a user, none, an empty one, or two reach no route (T-107)', async () => {
    for (const hosts of [
      [`Host: evil.example:1@${host}`],
      ['Host: '],
      [],
      [`Host: ${host}`, 'Host: evil.example'],
      ['Host: evil.example', `Host: ${host}`],
    ]) {
      const { status, body } = await sendRawTls(port, ['GET /tools/notes/sse HTTP/1.1', ...hosts]);
      // Caddy has nothing for other hosts, and says so with an empty 200.
      expect([hosts, status === 400 || status === 421 || (status === 200 && body.trim() === '')]).toEqual([
        hosts,
        true,
      ]);
    }
  });

  it('long forwarded headers are answered in time (T-108)', async () => {
    for (const length of [3_000, 12_000, 100_000]) {
      const began = performance.now();
      const { status } = await post('/tools/notes/mcp', [
        `X-Forwarded-Proto: ${' ,'.repeat(length / 2)}x`,
        `X-Forwarded-Host: ${', '.repeat(length / 2)}x`,
      ]);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(performance.now() - began).toBeLessThan(patience(3000));
    }
    expect((await fetch(`${front.origin}/tools/jwks`)).status).toBe(200);
  });

  it('nobody is sent elsewhere, whatever a link or a header names (T-112)', async () => {
    for (const path of [
      '/tools/account?return_to=//evil.example',
      '/tools/account/?next=https:evil.example',
      '/tools/interaction/none?return_to=/%5Cevil.example',
      '/tools//evil.example/%2e%2e',
    ]) {
      const { headers } = await sendRawTls(port, [
        `GET ${path} HTTP/1.1`,
        `Host: ${host}`,
        'Referer: https://evil.example/',
      ]);
      const location = headers.get('location');
      if (location !== undefined)
        expect(new URL(location, `${front.origin}${path}`).origin).toBe(front.origin);
    }
  });

  it('nothing of the operation is there (T-113)', async () => {
    const { tokens } = await obtainTokens(
      { url: front.gatehouse.url, mcpUrl: `${front.origin}/tools/notes/mcp` },
      { scope: 'mcp', scopes: ['mcp'] },
    );
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    for (const place of ['metrics', 'debug', 'admin', 'control.sock', 'notes/metrics', 'notes', 'routes'])
      for (const init of [{}, { headers }])
        expect([place, (await fetch(`${front.origin}/tools/${place}`, init)).status]).toEqual([place, 404]);
  });

  it('pages of other origins are answered nothing, and no preflight lets their cookies in (T-114)', async () => {
    for (const origin of ['null', 'https://evil.example']) {
      const refused = await post('/tools/notes/mcp', [`Origin: ${origin}`]);
      expect([refused.status, refused.headers.has('access-control-allow-credentials')]).toEqual([403, false]);
      const preflight = await fetch(`${front.origin}/tools/token`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  it('what may be kept and what not arrives as it was said (T-115)', async () => {
    const cacheControl = async (path: string, init: RequestInit = {}): Promise<string> =>
      (await fetch(`${front.origin}${path}`, { redirect: 'manual', ...init })).headers.get('cache-control') ??
      '';
    expect(await cacheControl('/.well-known/oauth-protected-resource/tools/notes/mcp')).toContain('max-age');
    expect(await cacheControl('/tools/jwks')).toContain('max-age');
    for (const [path, method] of [
      ['/tools/token', 'POST'],
      ['/tools/notes/mcp', 'POST'],
      ['/tools/account', 'GET'],
    ] as const)
      expect([path, await cacheControl(path, { method })]).toEqual([
        path,
        expect.stringContaining('no-store'),
      ]);
  });
});
