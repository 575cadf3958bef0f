import { describe, expect, it } from 'vitest';
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
