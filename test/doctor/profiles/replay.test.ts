import { describe, expect, it } from 'vitest';
import { replayAddress } from '../../../src/doctor/profiles/replay.ts';
import { claudeAi } from '../../../src/oauth/client-profiles/claude.ts';
import { sdkV1 } from '../../../src/oauth/client-profiles/tools.ts';
import { walked } from './walked.ts';

describe('a walk', () => {
  it('ends at the first step that stops the client, and asks no further', async () => {
    const { finding, server } = await walked(['vscode'], {
      fault: (sound) => {
        sound.publish('GET /.well-known/oauth-protected-resource/mcp', {
          resource: 'https://other.example/mcp',
        });
      },
      active: true,
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('stops at resource:') });
    expect(server.asked()).not.toContain('POST /register');
  });

  it('ends well where no login is asked for', async () => {
    const { finding } = await walked(['sdk-v2'], {
      fault: (server) => {
        server.routes['POST /mcp'] = () => ({ json: { jsonrpc: '2.0', id: 'doctor', result: {} } });
        server.routes['GET /mcp'] = () => ({ status: 405 });
      },
    });
    expect(finding).toMatchObject({ verdict: 'pass', saw: expect.stringContaining('asks for no login') });
  });
});

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

describe('the address', () => {
  it.each([
    ['https://mcp.example.com/mcp', 'goes_on'],
    ['https://mcp.example.com:8443/mcp', 'stops'],
    ['http://mcp.example.com/mcp', 'stops'],
    ['https://10.0.0.8/mcp', 'out_of_reach'],
    ['https://intranet/mcp', 'out_of_reach'],
    ['no url', 'unknown'],
  ])('%s for a client in a data centre: %s', (url, kind) => {
    expect(replayAddress(claudeAi, url).kind).toBe(kind);
  });

  it('is any for a client on this machine', () => {
    expect(replayAddress(sdkV1, 'http://127.0.0.1:3000/mcp').kind).toBe('goes_on');
  });
});

describe('the challenge', () => {
  it('of another status than 401 stops clients', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) => {
        server.routes['POST /mcp'] = () => ({ status: 403, json: {} });
        server.routes['GET /mcp'] = () => ({ status: 403, json: {} });
      },
    });
    expect(finding.saw).toContain('stops at challenge: The answer is 403');
  });

  it('behind a redirect that loses the request stops clients', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) => {
        server.routes['POST /mcp'] = () => ({ status: 301, headers: { location: '/mcp/' } });
      },
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('301') });
  });
});
