import { describe, expect, it } from 'vitest';
import { checkProtectedResource } from '../../../src/client/discovery/protected-resource.ts';
import { discover } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';
import { startServer } from '../support/scripted-server.ts';

const pathForm = 'GET /.well-known/oauth-protected-resource/mcp';
const rootForm = 'GET /.well-known/oauth-protected-resource';

describe('protected resource metadata', () => {
  it('is asked for at the path form, then at the root, where the challenge names no place (A3-05)', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    mcp.routes['POST /mcp'] = { status: 401, headers: { 'www-authenticate': 'Bearer' }, text: '' };
    mcp.routes[rootForm] = mcp.routes[pathForm] ?? {};
    delete mcp.routes[pathForm];
    const found = await discover(testContext(), mcp.url);
    expect(found.model).toBe('protected_resource');
    expect(mcp.asked()).toEqual(['POST /mcp', pathForm, rootForm]);
  });

  it('is never asked for at the root where the path form answered (A3-05)', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    mcp.routes['POST /mcp'] = { status: 401, text: '' };
    mcp.routes[pathForm] = {
      json: { resource: 'http://127.0.0.1:1/other', authorization_servers: [as.origin] },
    };
    await expect(discover(testContext(), mcp.url)).rejects.toMatchObject({ reason: 'resource_mismatch' });
    expect(mcp.asked()).not.toContain(rootForm);
    expect(as.requests).toEqual([]);
  });

  it('is not a page that a server sends for every path', async () => {
    const as = await startAuthorizationServer();
    const mcp = await startMcpServer(as);
    mcp.routes['POST /mcp'] = { status: 401, text: '' };
    mcp.routes[rootForm] = mcp.routes[pathForm] ?? {};
    mcp.routes[pathForm] = { headers: { 'content-type': 'text/html' }, text: '<!doctype html>' };
    expect((await discover(testContext(), mcp.url)).model).toBe('protected_resource');
  });

  it.each([
    ['https://x.dev/mcp', 'https://x.dev/mcp'],
    ['https://x.dev/mcp', 'https://x.dev/mcp/'],
    ['https://x.dev', 'https://x.dev/mcp'],
    ['https://X.dev/mcp', 'https://x.dev/mcp'],
  ])('for %s may be used at %s (A3-07)', (resource, server) => {
    const verdict = checkProtectedResource({ resource, authorization_servers: ['https://as.dev'] }, server);
    expect(verdict).toMatchObject({ kind: 'usable', metadata: { resource } });
  });

  it.each([
    ['https://x.dev/mc', 'https://x.dev/mcp'],
    ['https://y.dev/mcp', 'https://x.dev/mcp'],
    ['https://x.dev:8443/mcp', 'https://x.dev/mcp'],
    ['http://x.dev/mcp', 'https://x.dev/mcp'],
    ['https://x.dev/mcp/sub', 'https://x.dev/mcp'],
  ])('for %s is refused at %s (A3-07, T-185)', (resource, server) => {
    const verdict = checkProtectedResource({ resource, authorization_servers: ['https://as.dev'] }, server);
    expect(verdict).toMatchObject({ kind: 'refused', reason: 'resource_mismatch' });
  });

  it('for another server is refused with both URLs and the place where they differ (A3-07)', () => {
    const verdict = checkProtectedResource(
      { resource: 'https://x.dev/mcq', authorization_servers: ['https://as.dev'] },
      'https://x.dev/mcp',
    );
    expect(verdict).toMatchObject({
      why: expect.stringContaining(
        'expected "https://x.dev/mcp", found "https://x.dev/mcq"; they differ at character 17: expected "p", found "q"',
      ),
    });
  });

  it.each([
    [{ resource: 7 }],
    [{ resource: 'file:///mcp', authorization_servers: ['https://as.dev'] }],
    [{ resource: 'https://x.dev/mcp' }],
    [{ resource: 'https://x.dev/mcp', authorization_servers: [] }],
  ])('%j is refused as malformed', (document) => {
    expect(checkProtectedResource(document, 'https://x.dev/mcp')).toMatchObject({
      kind: 'refused',
      reason: 'bad_metadata',
    });
  });

  it.each(['http://10.0.0.1/m', 'file:///etc/passwd', 'https://other.example/m', 'http://127.0.0.1:9/m'])(
    'at %s is not fetched (T-185)',
    async (place) => {
      const server = await startServer({
        'POST /mcp': {
          status: 401,
          headers: { 'www-authenticate': `Bearer resource_metadata="${place}"` },
          text: '',
        },
      });
      await expect(discover(testContext(), `${server.origin}/mcp`)).rejects.toMatchObject({
        reason: 'bad_url',
        message: expect.stringContaining('resource_metadata'),
      });
      expect(server.asked().every((asked) => /^(?:POST \/mcp|GET \/\.well-known\/.*)$/.test(asked))).toBe(
        true,
      );
    },
  );

  it('of 10 MB is not read to its end (T-185)', async () => {
    const server = await startServer({
      'POST /mcp': { status: 401, text: '' },
      [pathForm]: {
        headers: { 'content-type': 'application/json' },
        text: `{"resource":"${'x'.repeat(10_000_000)}"}`,
      },
    });
    await expect(discover(testContext(), `${server.origin}/mcp`)).rejects.toMatchObject({
      reason: 'too_large',
    });
  });

  it('behind a redirect is not followed (T-185)', async () => {
    const elsewhere = await startServer();
    const server = await startServer({
      'POST /mcp': { status: 401, text: '' },
      [pathForm]: { status: 302, headers: { location: `${elsewhere.origin}/m` }, text: '' },
    });
    await expect(discover(testContext(), `${server.origin}/mcp`)).rejects.toMatchObject({
      reason: 'redirected',
    });
    expect(elsewhere.requests).toEqual([]);
  });

  it('of a public server may not lead into the local network (T-185, A12-01)', async () => {
    const asked: string[] = [];
    const fetch = async (target: string | URL): Promise<Response> => {
      const url = String(target);
      asked.push(url);
      if (url === 'https://mcp.example/mcp') return new Response('', { status: 401 });
      return Response.json({
        resource: 'https://mcp.example/mcp',
        authorization_servers: ['https://192.168.0.1'],
      });
    };
    const context = { ...testContext(), fetch };
    await expect(discover(context, 'https://mcp.example/mcp')).rejects.toMatchObject({ reason: 'bad_url' });
    expect(asked.every((url) => url.startsWith('https://mcp.example/'))).toBe(true);
  });
});
