import { describe, expect, it } from 'vitest';
import { walked } from './walked.ts';

describe('the metadata of the resource', () => {
  it('that the challenge misplaces is found by clients that ask the other places too', async () => {
    const { verdicts, findings } = await walked(['sdk-v1', 'vscode', 'python-sdk', 'codex'], {
      active: true,
      issuerPath: '/tenant',
      fault: (server) => {
        server.change('POST /mcp', (reply) => ({
          ...reply,
          headers: { 'www-authenticate': `Bearer resource_metadata="${server.origin}/nowhere"` },
        }));
        // Who finds no metadata takes the origin for the authorization server; it registers nobody.
        server.routes['POST /origin-register'] = server.routes['POST /register'] ?? (() => ({ status: 404 }));
        delete server.routes['POST /register'];
        for (const name of Object.keys(server.routes).filter((route) =>
          /authorization-server|openid/.test(route),
        ))
          server.publish(name, { registration_endpoint: `${server.origin}/origin-register` });
      },
    });
    expect(verdicts).toEqual({
      'CLIENT-SDK-V1': 'fail',
      'CLIENT-VSCODE': 'fail',
      'CLIENT-PYTHON-SDK': 'pass',
      'CLIENT-CODEX': 'pass',
    });
    expect(findings.find(({ id }) => id === 'CLIENT-VSCODE')?.saw).toContain('stops at registration');
  });

  it('that is nowhere sends clients to the origin, as in 2025-03-26', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) => {
        for (const name of ['/mcp', ''])
          delete server.routes[`GET /.well-known/oauth-protected-resource${name}`];
        server.change('POST /mcp', (reply) => ({ ...reply, headers: { 'www-authenticate': 'Bearer' } }));
      },
    });
    expect(finding.verdict).toBe('pass');
  });

  it('without a URL as its resource stops clients', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) => server.publish('GET /.well-known/oauth-protected-resource/mcp', { resource: 7 }),
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('no URL') });
  });
});
