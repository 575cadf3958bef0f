import { describe, expect, it } from 'vitest';
import { claudeAi } from '../../../src/doctor/profiles/clients/claude.ts';
import { sdkV1 } from '../../../src/doctor/profiles/clients/sdks.ts';
import { replayAddress } from '../../../src/doctor/profiles/discovery-replay.ts';
import { walked } from './walked.ts';

describe('the address', () => {
  it.each([
    ['https://mcp.example.com/mcp', 'goes_on'],
    ['https://mcp.example.com:8443/mcp', 'stops'],
    ['http://mcp.example.com/mcp', 'stops'],
    ['https://10.0.0.8/mcp', 'stops'],
    ['https://intranet/mcp', 'stops'],
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

describe('the authorization server', () => {
  const slash = {
    fault: (server: { publish(name: string, members: Record<string, unknown>): void; origin: string }) =>
      server.publish('GET /.well-known/oauth-authorization-server', { issuer: `${server.origin}/` }),
  };

  it('whose issuer has another slash stops clients that compare it (AS-18)', async () => {
    const { verdicts, findings } = await walked(
      ['codex', 'copilot-cli', 'python-sdk', 'sdk-v1', 'sdk-v2', 'vscode'],
      slash,
    );
    expect(verdicts).toEqual({
      'CLIENT-CODEX': 'fail',
      'CLIENT-COPILOT-CLI': 'fail',
      'CLIENT-PYTHON-SDK': 'fail',
      'CLIENT-SDK-V1': 'pass',
      'CLIENT-SDK-V2': 'fail',
      'CLIENT-VSCODE': 'pass',
    });
    expect(findings[0]?.saw).toContain('the end');
  });

  it('that does not list PKCE stops ChatGPT alone, and listing others stops the SDKs', async () => {
    const names = ['sdk-v1', 'vscode', 'python-sdk', 'gemini-cli'];
    const place = 'GET /.well-known/oauth-authorization-server';
    const silent = await walked(names, {
      fault: (server) => server.publish(place, { code_challenge_methods_supported: undefined }),
    });
    expect(Object.values(silent.verdicts)).toEqual(['pass', 'pass', 'pass', 'pass']);
    const plain = await walked(names, {
      fault: (server) => server.publish(place, { code_challenge_methods_supported: ['plain'] }),
    });
    expect(plain.verdicts).toMatchObject({ 'CLIENT-SDK-V1': 'fail', 'CLIENT-VSCODE': 'pass' });
  });

  it('with a path and its metadata at the root only is found by Gemini CLI; without any it stops (CL-8)', async () => {
    const places = /well-known\/(oauth-authorization-server|openid-configuration)/;
    const atRoot = await walked(['gemini-cli'], {
      issuerPath: '/tenant',
      fault: (server) => {
        const names = Object.keys(server.routes).filter((name) => places.test(name));
        const route = server.routes[names[0] ?? ''];
        for (const name of names) delete server.routes[name];
        if (route) server.routes['GET /.well-known/oauth-authorization-server'] = route;
      },
    });
    expect(atRoot.finding.verdict).toBe('pass');
    const nowhere = await walked(['gemini-cli'], {
      fault: (server) => {
        for (const name of Object.keys(server.routes)) if (places.test(name)) delete server.routes[name];
      },
    });
    expect(nowhere.finding.saw).toContain('stops at issuer metadata');
  });

  it('that names no issuer one could ask stops clients', async () => {
    const { finding } = await walked(['sdk-v1'], {
      fault: (server) =>
        server.publish('GET /.well-known/oauth-protected-resource/mcp', {
          authorization_servers: ['nowhere'],
        }),
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('no URL') });
  });
});
