import { describe, expect, it } from 'vitest';
import { examined } from '../support/examine.ts';
import { activeSections, examineActively, headlessLogin } from '../support/login.ts';
import { startServer } from '../support/server.ts';

describe('the client of a login', () => {
  it('is the one registered without a port, and for the second login another, so that no grant is shared', async () => {
    const login = headlessLogin();
    const { server } = await examineActively(undefined, { login });
    const [first, second] = login.asked.map((url) => new URL(url).searchParams.get('client_id'));
    expect(first).not.toBe(second);
    const registered = server.requests
      .filter(({ path, method }) => path === '/register' && method === 'POST')
      .map(({ body }) => (JSON.parse(body) as { redirect_uris: string[] }).redirect_uris);
    expect(registered).toContainEqual(['http://127.0.0.1:45454/callback']);
  });

  it('is registered with the exact redirect URI where the server wants it', async () => {
    const login = headlessLogin();
    const report = await examineActively(
      (server) => {
        server.rules.anyLoopbackPort = false;
      },
      { login },
    );
    expect(report.bad()).toEqual(['fail LOGIN-LOOPBACK-PORT']);
    expect(login.asked).toHaveLength(2);
    expect(report.finding('LOGIN-CODE').verdict).toBe('pass');
  });

  it('is the given one where a client id was given, for both logins', async () => {
    const server = await startServer();
    const response = await fetch(`${server.origin}/register`, {
      method: 'POST',
      body: JSON.stringify({
        redirect_uris: ['http://127.0.0.1/callback'],
        token_endpoint_auth_method: 'none',
      }),
    });
    const { client_id: clientId } = (await response.json()) as { client_id: string };
    const login = headlessLogin({ given: { clientId } });
    const report = await examined(server.url, activeSections, { active: true, login });
    expect(login.asked.map((url) => new URL(url).searchParams.get('client_id'))).toEqual([
      clientId,
      clientId,
    ]);
    expect(report.finding('LOGIN-CODE').verdict).toBe('pass');
  });
});
