import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';
import type { Fault } from '../support/server.ts';

/** Every authorization request comes back with this error. */
function alwaysWith(error: string, description = 'by the test'): Fault {
  return (server) =>
    server.change('GET /authorize', (_reply, { query }) => {
      const back = new URL(query.get('redirect_uri') ?? '');
      back.search = `${new URLSearchParams({ error, error_description: description, state: query.get('state') ?? '' })}`;
      return { status: 302, headers: { location: back.href } };
    });
}

const faults: FaultCase[] = [
  [
    'the resource that the server publishes is refused',
    alwaysWith('invalid_target'),
    'LOGIN-REQUEST',
    'fail',
    /resource "http:\/\/127\.0\.0\.1:\d+\/mcp" came back to the client with "invalid_target"/,
  ],
  [
    'another port than the registered one is refused (AS-15)',
    (server) => {
      server.rules.anyLoopbackPort = false;
    },
    'LOGIN-LOOPBACK-PORT',
    'fail',
    /with a port of its own was refused with status 400/,
  ],
  [
    'no PKCE is demanded',
    (server) => {
      server.rules.requiresPkce = false;
    },
    'LOGIN-PKCE',
    'fail',
    /^A request without code_challenge came back with a code/,
  ],
  [
    'plain PKCE is taken',
    (server) => {
      server.rules.acceptsPlainPkce = true;
    },
    'LOGIN-PKCE-PLAIN',
    'warn',
    /code_challenge_method "plain" came back with a code/,
  ],
  [
    'codes are sent to redirect URIs that nobody registered',
    (server) => {
      server.rules.checksRedirectUri = false;
    },
    'LOGIN-REDIRECT-URI',
    'fail',
    /https:\/\/doctor\.invalid\/callback, which is not registered, came back with a code/,
  ],
  [
    'errors are sent to redirect URIs that nobody registered',
    (server) =>
      server.change('GET /authorize', (reply, { query }) =>
        query.get('redirect_uri')?.startsWith('https://doctor.invalid')
          ? { status: 302, headers: { location: 'https://doctor.invalid/callback?error=invalid_request' } }
          : reply,
      ),
    'LOGIN-REDIRECT-URI',
    'fail',
    /open redirector/,
  ],
  [
    'tokens are to be had for any resource',
    (server) => {
      server.rules.checksResource = false;
    },
    'LOGIN-UNKNOWN-RESOURCE',
    'warn',
    /resource https:\/\/doctor\.invalid\/mcp came back with a code/,
  ],
  [
    'a bad request breaks the server',
    (server) =>
      server.change('GET /authorize', (reply, { query }) =>
        query.has('code_challenge') ? reply : { status: 500, text: 'oops' },
      ),
    'LOGIN-PKCE',
    'warn',
    /answered with status 500: a fault of the server in place of a refusal/,
  ],
];

describe('the authorization endpoint', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('is asked without the user until a login is needed', async () => {
    const login = headlessLogin();
    const only = [
      'LOGIN-REQUEST',
      'LOGIN-PKCE',
      'LOGIN-PKCE-PLAIN',
      'LOGIN-REDIRECT-URI',
      'LOGIN-UNKNOWN-RESOURCE',
    ];
    const { findings } = await examineActively(undefined, { only, login });
    expect(findings.map(({ verdict }) => verdict)).toEqual(only.map(() => 'pass'));
    expect(login.asked).toEqual([]);
  });

  it('opens no browser for a request that it refuses, and the checks after it name that', async () => {
    const login = headlessLogin();
    const report = await examineActively(alwaysWith('invalid_scope'), { login });
    expect(login.asked).toEqual([]);
    expect(report.finding('LOGIN-REQUEST').fix).toContain('scopes_supported');
    expect(report.finding('LOGIN-STATE')).toMatchObject({ verdict: 'skip', because: 'LOGIN-REQUEST' });
    expect(report.finding('TOKEN-ACCEPTED')).toMatchObject({ verdict: 'unknown', because: 'LOGIN-REQUEST' });
  });

  it('gets the hint for Entra where its error code stands', async () => {
    const report = await examineActively(
      alwaysWith('invalid_target', 'AADSTS9010010: resource does not match scopes'),
    );
    expect(report.finding('LOGIN-REQUEST').fix).toContain('Application ID URI');
  });

  it('that shows a login to bad requests too is warned about, not passed', async () => {
    const report = await examineActively(
      (server) =>
        server.change('GET /authorize', () => ({ status: 302, headers: { location: '/login?id=1' } })),
      { only: ['LOGIN-PKCE'] },
    );
    expect(report.finding('LOGIN-PKCE')).toMatchObject({
      verdict: 'warn',
      saw: expect.stringContaining('It was not refused before the login'),
    });
  });

  it('that answers bad requests otherwise, but with 200, leaves it unknown', async () => {
    const report = await examineActively(
      (server) =>
        server.change('GET /authorize', (reply, { query }) =>
          query.has('code_challenge') ? reply : { status: 200, text: 'Something' },
        ),
      { only: ['LOGIN-PKCE'] },
    );
    expect(report.finding('LOGIN-PKCE').verdict).toBe('unknown');
  });
});

describe('the response', () => {
  /** Changes the redirect that the user comes back with; requests of the doctor have another port. */
  function comingBack(edit: (back: URL) => void): Fault {
    return (server) =>
      server.change('GET /authorize', (reply) => {
        const back = new URL(String(reply.headers?.location ?? 'about:blank'));
        edit(back);
        return reply.status === 302 ? { ...reply, headers: { location: back.href } } : reply;
      });
  }

  const faults: FaultCase[] = [
    [
      'drops the state',
      (server) => {
        server.rules.returnsState = false;
      },
      'LOGIN-STATE',
      'fail',
      /has no state/,
    ],
    [
      'changes the state',
      comingBack((back) => back.searchParams.set('state', 'other')),
      'LOGIN-STATE',
      'fail',
      /another state/,
    ],
    [
      'sends the state twice',
      comingBack((back) => back.searchParams.append('state', back.searchParams.get('state') ?? '')),
      'LOGIN-STATE',
      'fail',
      /has 2 states/,
    ],
    [
      'names its issuer with a slash more',
      (server) => {
        server.rules.issOfResponse = (issuer) => `${issuer}/`;
      },
      'LOGIN-ISS',
      'fail',
      /they differ at character \d+: expected the end, found "\/"/,
    ],
    [
      'announces iss and sends none',
      (server) => {
        server.rules.issOfResponse = () => null;
      },
      'LOGIN-ISS',
      'fail',
      /announces authorization_response_iss_parameter_supported/,
    ],
  ];

  describe('the authorization response', () => {
    it.each(faults)('is found wrong where the server %s', async (...fault) => expectFound(fault));

    it('without iss is no fault where none is announced', async () => {
      const report = await examineActively((server) => {
        server.rules.issOfResponse = () => null;
        server.publish('GET /.well-known/oauth-authorization-server', {
          authorization_response_iss_parameter_supported: undefined,
        });
      });
      expect(report.finding('LOGIN-ISS').verdict).toBe('skip');
      expect(report.bad()).toEqual([]);
    });

    it('with a wrong state is used for nothing, and the checks after it name that', async () => {
      const report = await examineActively(comingBack((back) => back.searchParams.set('state', 'other')));
      expect(report.finding('LOGIN-CODE')).toMatchObject({ verdict: 'skip', because: 'LOGIN-STATE' });
      expect(report.finding('TOKEN-ACCEPTED')).toMatchObject({ verdict: 'unknown', because: 'LOGIN-STATE' });
      const redeemed = report.server.requests.filter(
        ({ path, body }) => path === '/token' && body.includes('code=code-'),
      );
      expect(redeemed).toEqual([]);
    });
  });
});
