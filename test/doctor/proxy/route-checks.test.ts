import { describe, expect, it } from 'vitest';
import { seen } from './open-server.ts';

const html = { headers: { 'content-type': 'text/html' }, text: '<html>our site</html>' };

describe('PROXY-PRODUCT', () => {
  it('names what gave itself away, or says that nothing did', async () => {
    expect((await seen('PROXY-PRODUCT')).saw).toContain('Nothing');
    const found = await seen('PROXY-PRODUCT', (server) =>
      server.change('POST /mcp', (reply) => ({ ...reply, headers: { ...reply.headers, via: '1.1 Caddy' } })),
    );
    expect(found).toMatchObject({ verdict: 'pass', saw: 'Caddy (Via: 1.1 Caddy).' });
  });
});

describe('PROXY-REDIRECT', () => {
  const to = (location: string) => () => ({ status: 301, headers: { location } });

  it('finds a URL that is redirected, with the lines of each product', async () => {
    const found = await seen('PROXY-REDIRECT', (server) => {
      server.routes['POST /mcp'] = to('/mcp/');
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('(301)') });
    expect(found.hints?.map(({ product }) => product)).toContain('traefik');
  });

  it('explains the page that comes with a redirect, and the path that is not reached', async () => {
    for (const id of ['PROXY-ERROR-PAGE', 'PROXY-PREFIX'])
      expect(
        await seen(id, (server) => {
          server.routes['POST /mcp'] = () => ({
            ...html,
            status: 301,
            headers: { ...html.headers, location: '/mcp/' },
          });
        }),
      ).toMatchObject({ verdict: 'skip', because: 'PROXY-REDIRECT' });
  });

  it('warns of a spelling that is redirected', async () => {
    const found = await seen('PROXY-REDIRECT', (server) => {
      server.routes['POST /mcp/'] = to('/mcp');
    });
    expect(found.verdict).toBe('warn');
  });

  it('passes where none is', async () => {
    expect(await seen('PROXY-REDIRECT')).toMatchObject({ verdict: 'pass' });
  });
});

describe('PROXY-WELL-KNOWN', () => {
  const withoutMetadata = (server: { routes: Record<string, unknown> }): void => {
    for (const name of Object.keys(server.routes))
      if (name.includes('oauth-protected-resource')) delete server.routes[name];
  };

  it('finds metadata below the prefix, where no client looks', async () => {
    const found = await seen('PROXY-WELL-KNOWN', (server) => {
      withoutMetadata(server);
      server.routes['GET /mcp/.well-known/oauth-protected-resource'] = () => ({
        json: { resource: server.url },
      });
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('where no client looks') });
  });

  it('finds a site that answers for the server', async () => {
    const found = await seen('PROXY-WELL-KNOWN', (server) => {
      withoutMetadata(server);
      server.routes['GET /.well-known/oauth-protected-resource/mcp'] = () => ({ status: 404, ...html });
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('the site answers') });
  });

  it('cannot tell a server without metadata from a route that is missing', async () => {
    expect(await seen('PROXY-WELL-KNOWN', withoutMetadata)).toMatchObject({ verdict: 'unknown' });
  });
});

describe('PROXY-ERROR-PAGE', () => {
  it.each([
    ['a page for 401', 401, 'a page'],
    ['a proxy that does not reach the server', 502, 'does not reach the server'],
  ])('finds %s', async (_what, status, saw) => {
    const found = await seen('PROXY-ERROR-PAGE', (server) => {
      server.routes['POST /mcp'] = () => ({ status, ...html });
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(saw) });
  });

  it('finds a site that has a page for everything (GW-3)', async () => {
    const found = await seen('PROXY-ERROR-PAGE', (server) => {
      server.routes['GET /.well-known/oauth-protected-resource/*'] = () => html;
    });
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('does not exist') });
  });

  it('passes for JSON', async () => {
    expect(await seen('PROXY-ERROR-PAGE')).toMatchObject({ verdict: 'pass' });
  });
});

describe('the host', () => {
  const place = 'GET /.well-known/oauth-protected-resource/mcp';

  describe('PROXY-HOST', () => {
    it.each([
      ['an inner name', 'http://backend:8080/mcp', 'backend:8080 is not the name'],
      ['a name of a cluster', 'https://mcp.tools.svc/mcp', 'mcp.tools.svc'],
      ['an address of the inner network', 'http://10.0.0.5/mcp', '10.0.0.5'],
    ])('finds %s (GW-1)', async (_what, resource, saw) => {
      const found = await seen('PROXY-HOST', (server) => server.publish(place, { resource }));
      expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(saw) });
      expect(found.fix).toContain('publicUrl');
      expect(found.hints?.find(({ product }) => product === 'nginx')?.lines).toContain(
        'proxy_set_header Host $http_host;',
      );
    });

    it('finds the port and the scheme behind the proxy', async () => {
      const port = await seen('PROXY-HOST', (server) =>
        server.publish(place, { resource: 'http://127.0.0.1:1/mcp' }),
      );
      expect(port.saw).toContain('names port 1');
      const scheme = await seen('PROXY-HOST', (server) =>
        server.publish(place, { authorization_servers: [server.origin.replace('http:', 'https:')] }),
      );
      expect(scheme.saw).toContain('it says https:');
    });

    it('finds it in the challenge too', async () => {
      const found = await seen('PROXY-HOST', (server) =>
        server.change('POST /mcp', (reply) => ({
          ...reply,
          headers: { 'www-authenticate': 'Bearer resource_metadata="http://backend/x"' },
        })),
      );
      expect(found.saw).toContain('the challenge is "http://backend/x"');
    });

    it('takes an authorization server elsewhere for what it is', async () => {
      const found = await seen('PROXY-HOST', (server) =>
        server.publish(place, {
          authorization_servers: ['https://login.example.com', 'http://127.0.0.1:9/as'],
        }),
      );
      expect(found.verdict).toBe('pass');
    });
  });
});

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
