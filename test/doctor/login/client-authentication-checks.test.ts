import { describe, expect, it } from 'vitest';
import { expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';

const faults: FaultCase[] = [
  [
    'an advertised method does not work',
    (server) =>
      server.change('POST /token', (reply, { headers }) =>
        headers.authorization === undefined ? reply : refusal('invalid_client', 401),
      ),
    'LOGIN-CLIENT-AUTH',
    'fail',
    /With client_secret_basic and the right secret a request was refused with status 401, "invalid_client"/,
  ],
  [
    'Basic credentials are not decoded',
    (server) =>
      server.change('POST /token', (reply, { headers }) => {
        const credentials = atob(headers.authorization?.slice(6) ?? '');
        return credentials.includes('%') ? refusal('invalid_client', 401) : reply;
      }),
    'LOGIN-BASIC-ENCODING',
    'warn',
    /percent-encoded, a request was refused with status 401.*with the same secret as it is, it was refused with status 400/,
  ],
];

describe('client authentication', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('is skipped where only public clients are served, and names what was not tried', async () => {
    const report = await examineActively(
      (server) =>
        server.publish('GET /.well-known/oauth-authorization-server', {
          token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        }),
      { only: ['LOGIN-CLIENT-AUTH', 'LOGIN-BASIC-ENCODING'] },
    );
    expect(report.finding('LOGIN-CLIENT-AUTH')).toMatchObject({
      verdict: 'skip',
      saw: expect.stringContaining('Not tried: private_key_jwt'),
    });
    expect(report.finding('LOGIN-BASIC-ENCODING').verdict).toBe('skip');
  });

  it('is unknown where the code is looked at before the secret', async () => {
    const report = await examineActively(
      (server) =>
        server.change('POST /token', (reply) => (reply.status === 401 ? refusal('invalid_grant') : reply)),
      { only: ['LOGIN-CLIENT-AUTH', 'LOGIN-BASIC-ENCODING'] },
    );
    expect(report.finding('LOGIN-CLIENT-AUTH')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('before the secret, if at all'),
    });
    expect(report.finding('LOGIN-BASIC-ENCODING').verdict).toBe('unknown');
  });

  it('is unknown where no client with a secret is registered', async () => {
    const report = await examineActively(
      (server) =>
        server.change('POST /register', (reply, { body }) =>
          body.includes('client_secret') ? refusal('invalid_client_metadata') : reply,
        ),
      { only: ['LOGIN-CLIENT-AUTH'] },
    );
    expect(report.finding('LOGIN-CLIENT-AUTH')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('client_secret_basic, client_secret_post'),
    });
  });
});

describe('client authentication', () => {
  it('client authentication is tried without a user: rightly, wrongly, and with the secret encoded (RFC 6749 section 2.3.1)', async () => {
    const login = headlessLogin();
    const { server } = await examineActively(undefined, { only: ['LOGIN-CLIENT-AUTH'], login });
    const requests = server.requests.filter(({ path }) => path === '/token');
    expect(requests).toHaveLength(5);
    const basic = requests.flatMap(({ headers }) =>
      headers.authorization === undefined ? [] : [atob(headers.authorization.slice(6)).split(':')[1] ?? ''],
    );
    const [right = '', wrong, encoded = ''] = basic;
    expect(wrong).toBe(`${right}-not`);
    expect(encoded).not.toBe(right);
    expect(decodeURIComponent(encoded)).toBe(right);
    expect(login.asked).toEqual([]);
  });
});
