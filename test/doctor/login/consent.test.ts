import { describe, expect, it } from 'vitest';
import { ClientError } from '../../../src/client/index.ts';
import { countConsents } from '../../../src/doctor/login/consent.ts';
import { examined } from '../support/examine.ts';
import { activeSections, examineActively, headlessLogin } from '../support/login.ts';
import { startServer } from '../support/server.ts';

describe('a login of the examination', () => {
  it('is skipped where nobody is there to log in; what needs no login is told all the same', async () => {
    const report = await examineActively(undefined, { login: {} });
    expect(report.finding('LOGIN-STATE')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('nobody is here'),
    });
    expect(report.finding('LOGIN-PKCE').verdict).toBe('pass');
    expect(report.finding('LOGIN-CODE').verdict).not.toBe('pass');
    expect(report.finding('TOKEN-ACCEPTED').verdict).not.toBe('pass');
  });

  it.each([
    ['does not come', 'login_timed_out'],
    ['says no', 'authorization_denied'],
  ] as const)('is unknown where the user %s, and the user is asked once', async (_what, reason) => {
    const login = headlessLogin({
      consent: async () => {
        throw new ClientError(reason, 'Nobody said yes.');
      },
    });
    const report = await examineActively(undefined, { login });
    expect(login.asked).toHaveLength(1);
    expect(report.finding('LOGIN-STATE')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('Nobody said yes.'),
    });
    expect(report.bad()).toEqual([]);
    const passed = report.findings.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);
    expect(passed).not.toContain('LOGIN-REUSE');
    expect(passed).not.toContain('TOKEN-REVOKED');
  });

  it('asks the second user for fewer scopes only where there are several', async () => {
    const login = headlessLogin();
    await examineActively(
      (server) =>
        server.change('POST /mcp', (reply) => {
          const header = reply.headers?.['www-authenticate'];
          return header === undefined
            ? reply
            : {
                ...reply,
                headers: {
                  ...reply.headers,
                  'www-authenticate': String(header).replace(
                    'scope="notes:read"',
                    'scope="notes:read notes:write"',
                  ),
                },
              };
        }),
      { login },
    );
    expect(login.asked.map((url) => new URL(url).searchParams.get('scope'))).toEqual([
      'notes:read notes:write',
      'notes:read',
    ]);
  });
});

describe('how often the user is asked', () => {
  it('is at most twice, and said beforehand', async () => {
    const login = headlessLogin();
    await examineActively(undefined, { login });
    expect(countConsents(activeSections)).toBe(2);
    expect(login.asked).toHaveLength(2);
  });

  it('is as was said for every single check', async () => {
    for (const { id } of activeSections) {
      const login = headlessLogin({ reuseAfterSeconds: [0], revokedAfterSeconds: [0] });
      const only = [id];
      const { findings } = await examineActively(undefined, { only, login });
      const ran = activeSections.filter((check) => findings.some((finding) => finding.id === check.id));
      expect([id, login.asked.length]).toEqual([
        id,
        countConsents(ran.filter((check) => only.includes(check.id))),
      ]);
    }
  });

  it('is not at all without --active', async () => {
    expect(countConsents([{ id: 'REG-LOOPBACK-PORT' }, { id: 'LOGIN-PKCE' }])).toBe(0);
  });
});

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
