import { describe, expect, it } from 'vitest';
import { seen } from './open-server.ts';

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
