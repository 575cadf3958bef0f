import { describe, expect, it } from 'vitest';
import { walked } from './walked.ts';

describe('a client in a page', () => {
  it('is stopped by a server without CORS, and others are not (AS-22)', async () => {
    const { verdicts, findings } = await walked(['sdk-v1', 'inspector'], {
      fault: (server) => {
        server.cors = false;
      },
    });
    expect(verdicts).toEqual({ 'CLIENT-INSPECTOR': 'fail', 'CLIENT-SDK-V1': 'pass' });
    expect(findings.find(({ id }) => id === 'CLIENT-INSPECTOR')?.saw).toContain('stops at CORS');
  });

  it.each([
    ['the 401', 'POST /mcp'],
    ['the metadata of the resource', 'GET /.well-known/oauth-protected-resource/mcp'],
  ])('is stopped where it may not read %s', async (_what, name) => {
    const { finding } = await walked(['inspector'], {
      fault: (server) =>
        server.change(name, (reply) => ({
          ...reply,
          headers: { ...reply.headers, 'access-control-allow-origin': 'https://app.example' },
        })),
    });
    expect(finding).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('Access-Control-Allow-Origin'),
    });
  });

  it('is stopped where the token endpoint answers no preflight', async () => {
    const { finding } = await walked(['inspector'], {
      fault: (server) => {
        server.routes['OPTIONS /token'] = () => ({
          status: 405,
          headers: { 'access-control-allow-origin': '' },
        });
      },
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('/token') });
  });
});
