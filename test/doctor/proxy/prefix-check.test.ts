import { describe, expect, it } from 'vitest';
import { seen } from './open-server.ts';

describe('PROXY-PREFIX', () => {
  it('finds a prefix that is lost on the way', async () => {
    const found = await seen(
      'PROXY-PREFIX',
      (server) => {
        server.routes['POST /tools/mcp'] = () => ({ status: 401 });
      },
      { url: ({ origin }) => `${origin}/tools/mcp` },
    );
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('/tools is lost') });
  });

  it('passes where the path arrives, and cannot tell where nothing is published', async () => {
    expect(await seen('PROXY-PREFIX')).toMatchObject({ verdict: 'pass' });
    const found = await seen('PROXY-PREFIX', (server) => {
      server.routes = {};
    });
    expect(found.verdict).toBe('unknown');
  });

  /** A server that names a path, and answers there alike whoever asks. */
  const named = (path: string, arrives: (path: string) => boolean) =>
    seen(
      'PROXY-PREFIX',
      (server) => {
        server.routes = {};
        const { origin } = server;
        const metadata = `${origin}/.well-known/oauth-protected-resource${path}`;
        server.routes[`GET /.well-known/oauth-protected-resource${path}`] = () => ({
          json: { resource: `${origin}${path}` },
        });
        const refused = () => ({
          status: 401,
          headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` },
        });
        for (const each of ['/mcp', '/tools/mcp', '/tools/tools/mcp', '/tools/gatehouse-doctor-miss/mcp'])
          if (arrives(each)) server.routes[`POST ${each}`] = refused;
      },
      { url: ({ origin }) => `${origin}${path.startsWith('/tools') ? '/tools/mcp' : path}` },
    );

  it('finds a prefix that is lost on the way though the server answers without it, too', async () => {
    const found = await named('/tools/mcp', (path) => !path.includes('miss'));
    expect(found).toMatchObject({
      verdict: 'fail',
      saw: expect.stringMatching(/^\/tools is lost on the way: \/tools\/tools\/mcp is answered/),
    });
    expect(found.hints?.find(({ product }) => product === 'nginx')?.lines).toContain('location /tools {');
  });

  it('shows nothing where a server answers alike at any path, and where the prefix twice leads nowhere', async () => {
    expect(await named('/tools/mcp', () => true)).toMatchObject({ verdict: 'pass' });
    expect(await named('/tools/mcp', (path) => path === '/tools/mcp')).toMatchObject({ verdict: 'pass' });
  });

  it('finds that what is sent to the path the server names arrives elsewhere', async () => {
    const found = await named('/tools/mcp', () => false);
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('(status 404)') });
  });

  it('finds a prefix of the public URL that the proxy has forgotten', async () => {
    const found = await seen(
      'PROXY-PREFIX',
      (server) => {
        const metadata = `${server.origin}/.well-known/oauth-protected-resource/tools/notes/mcp`;
        server.routes = {
          'POST /notes/mcp': () => ({
            status: 401,
            headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` },
          }),
        };
      },
      { url: ({ origin }) => `${origin}/notes/mcp` },
    );
    expect(found).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('its public URL has /tools, and the proxy publishes it without'),
      fix: expect.stringContaining('Publish the server below /tools'),
    });
  });
});
