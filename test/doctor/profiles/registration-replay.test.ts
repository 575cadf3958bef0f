import { describe, expect, it } from 'vitest';
import { walked } from './walked.ts';

const place = 'GET /.well-known/oauth-authorization-server';

describe('the registration of a client', () => {
  it('is sent as the client sends it, under a name that says who asks, with --active only', async () => {
    const { server } = await walked(['cursor'], { active: true });
    const sent = server.requests
      .filter(({ path }) => path === '/register')
      .map(({ body }) => JSON.parse(body));
    expect(sent).toEqual([
      expect.objectContaining({
        client_name: 'Gatehouse doctor as Cursor',
        redirect_uris: [
          'cursor://anysphere.cursor-mcp/oauth/callback',
          'https://www.cursor.com/agents/mcp/oauth/callback',
          'http://localhost:8787/callback',
        ],
      }),
    ]);
    expect(sent[0]).not.toHaveProperty('application_type');
  });

  it('that is refused for one redirect URI stops the client, which is shown (AS-17)', async () => {
    const { verdicts, finding } = await walked(['cursor', 'codex'], {
      active: true,
      fault: (server) =>
        server.change('POST /register', (reply, { body }) =>
          body.includes('cursor://')
            ? { status: 400, json: { error: 'invalid_redirect_uri', error_description: 'https only' } }
            : reply,
        ),
    });
    expect(verdicts).toEqual({ 'CLIENT-CODEX': 'pass', 'CLIENT-CURSOR': 'fail' });
    expect(finding.id).toBe('CLIENT-CODEX');
  });

  it('that comes back without a redirect URI stops the client', async () => {
    const { finding } = await walked(['vscode'], {
      active: true,
      fault: (server) =>
        server.change('POST /register', (reply) => ({
          ...reply,
          json: { ...(reply.json as object), redirect_uris: ['https://vscode.dev/redirect'] },
        })),
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('came back without') });
  });

  it('is impossible where the server has no way for it', async () => {
    const { finding } = await walked(['codex'], {
      fault: (server) => server.publish(place, { registration_endpoint: undefined }),
    });
    expect(finding).toMatchObject({ verdict: 'fail', saw: expect.stringContaining('offers neither') });
  });

  it('is not needed by a client with a metadata document, where the server takes those', async () => {
    const { finding, server } = await walked(['claude-code'], {
      fault: (sound) => sound.publish(place, { client_id_metadata_document_supported: true }),
    });
    expect(finding.saw).toContain('https://claude.ai/oauth/claude-code-client-metadata');
    expect(server.asked()).not.toContain('POST /register');
  });

  it('with a port that the server does not forgive stops VS Code on another port (AS-15)', async () => {
    const { finding } = await walked(['vscode'], {
      active: true,
      fault: (server) => {
        server.rules.anyLoopbackPort = false;
      },
    });
    expect(finding).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('stops at authorization request'),
    });
    expect(finding.fix).toContain('any port');
  });
});
