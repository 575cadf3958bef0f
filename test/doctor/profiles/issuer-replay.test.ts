import { describe, expect, it } from 'vitest';
import { walked } from './walked.ts';

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
