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
