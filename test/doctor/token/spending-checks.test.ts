import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { spendingChecks } from '../../../src/doctor/token/spending-checks.ts';
import { atGrant, expectFound, type FaultCase, refusal } from '../support/active-faults.ts';
import { examined } from '../support/examine.ts';
import { activeSections, examineActively, headlessLogin } from '../support/login.ts';
import { type Fault, startServer, type TestServer } from '../support/server.ts';

describe('the checks that spend codes and tokens', () => {
  it('stand once each, at the end of the sections', () => {
    const ids = spendingChecks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(activeSections.slice(-ids.length).map(({ id }) => id)).toEqual(ids);
    expect(spendingChecks.every(({ active }) => active === true)).toBe(true);
  });

  it('find no fault where one grant is kept for both logins: what cannot be told is unknown', async () => {
    const server = await startServer({
      fault: (one) => {
        one.rules.refreshGraceMs = 60;
        let isEnded = false;
        atGrant('refresh_token', (reply) => {
          isEnded ||= reply.status === 400;
          return isEnded ? refusal('invalid_grant') : reply;
        })(one);
        one.change('POST /mcp', (reply, { headers }) =>
          isEnded && headers.authorization ? { status: 401 } : reply,
        );
      },
    });
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
    expect(report.bad()).toEqual([]);
    expect(report.finding('LOGIN-REUSE').verdict).toBe('pass');
    for (const id of ['TOKEN-OTHER-AUDIENCE', 'TOKEN-REVOKED', 'LOGIN-CODE-REVOKES'])
      expect(report.finding(id).verdict).toBe('unknown');
  });

  it('find no fault where a code is lost at its first wrong redemption', async () => {
    let redeemed = 0;
    const report = await examineActively(
      atGrant('authorization_code', (reply, { body }) =>
        body.includes('code=code-') && ++redeemed > 1 ? refusal('invalid_grant') : reply,
      ),
    );
    expect(report.bad()).toEqual([]);
    expect(report.finding('LOGIN-REFRESH').verdict).toBe('pass');
    expect(report.finding('LOGIN-REUSE').verdict).toBe('pass');
  });
});

describe('DPoP', () => {
  /** What a server with DPoP does with what comes; a fault switches one off. */
  interface DpopRules {
    takesProofs: boolean;
    takesBound: boolean;
    remembersProofs: boolean;
  }

  /** Binds tokens whose refresh came with a proof, and takes them with a new proof only. Signatures are the client's business here. */
  function withDpop(over: Partial<DpopRules> = {}): Fault {
    return (server: TestServer) => {
      const rules: DpopRules = { takesProofs: true, takesBound: false, remembersProofs: true, ...over };
      const bound = new Set<string>();
      const seenProofs = new Set<string>();
      server.publish('GET /.well-known/oauth-authorization-server', {
        dpop_signing_alg_values_supported: ['ES256'],
      });
      atGrant('refresh_token', (reply, { headers }) => {
        if (headers.dpop === undefined) return reply;
        const json = reply.json as { access_token: string };
        bound.add(json.access_token);
        return { ...reply, json: { ...json, token_type: 'DPoP' } };
      })(server);
      const sound = server.routes['POST /mcp'];
      if (!sound) throw new Error('no endpoint');
      server.routes['POST /mcp'] = (seen) => {
        const [scheme, token = ''] = (seen.headers.authorization ?? '').split(' ');
        const refused = {
          ...refusal('invalid_token', 401),
          headers: { 'www-authenticate': 'DPoP error="invalid_token"' },
        };
        if (scheme === 'DPoP') {
          const { jti = '' } = decodeJwt(String(seen.headers.dpop));
          if (!rules.takesProofs || (rules.remembersProofs && seenProofs.has(jti))) return refused;
          seenProofs.add(jti);
          return sound({ ...seen, headers: { ...seen.headers, authorization: `Bearer ${token}` } });
        }
        if (bound.has(token) && !rules.takesBound) return refused;
        const reply = sound(seen);
        return scheme === ''
          ? { status: 401, headers: { 'www-authenticate': 'Bearer scope="notes:read", DPoP algs="ES256"' } }
          : reply;
      };
    };
  }

  const only = ['TOKEN-DPOP'];

  describe('tokens that are bound to a key', () => {
    it('pass where a new proof is accepted, and neither an old proof nor none', async () => {
      const { finding } = await examineActively(withDpop(), { only });
      expect(finding('TOKEN-DPOP')).toMatchObject({ verdict: 'pass' });
    });

    it.each([
      [{ takesProofs: false }, 'fail', 'refused a token bound to a key with a new proof'],
      [{ takesBound: true }, 'fail', 'without any proof, as a bearer token'],
      [{ remembersProofs: false }, 'warn', 'took the same proof twice'],
    ] as const)('are found wrong with %j', async (over, verdict, saw) => {
      const { finding, bad } = await examineActively(withDpop(over), { only });
      expect(bad()).toEqual([`${verdict} TOKEN-DPOP`]);
      expect(finding('TOKEN-DPOP').saw).toContain(saw);
      expect(finding('TOKEN-DPOP').fix).toMatch(/\.$/);
    });

    it('are found promised and not issued', async () => {
      const { finding } = await examineActively(
        (server) => {
          withDpop()(server);
          atGrant('refresh_token', (reply, { headers }) =>
            headers.dpop === undefined ? reply : refusal('invalid_dpop_proof'),
          )(server);
        },
        { only },
      );
      expect(finding('TOKEN-DPOP')).toMatchObject({
        verdict: 'warn',
        saw: expect.stringContaining('announces DPoP'),
      });
    });

    it('are unknown where a refresh fails for another reason, and the refresh token is not tried again', async () => {
      const { finding, server } = await examineActively(
        (one) => {
          withDpop()(one);
          atGrant('refresh_token', () => refusal('invalid_grant'))(one);
        },
        { only: ['TOKEN-DPOP', 'TOKEN-OTHER-AUDIENCE'] },
      );
      expect(finding('TOKEN-DPOP').verdict).toBe('unknown');
      expect(server.requests.filter(({ body }) => body.includes('grant_type=refresh_token'))).toHaveLength(1);
    });

    it('are skipped where the server announces none', async () => {
      const { finding } = await examineActively(undefined, { only });
      expect(finding('TOKEN-DPOP').verdict).toBe('skip');
    });

    it('are skipped where the MCP server does not ask for proofs', async () => {
      const { finding } = await examineActively(
        (server) =>
          server.publish('GET /.well-known/oauth-authorization-server', {
            dpop_signing_alg_values_supported: ['ES256'],
          }),
        { only },
      );
      expect(finding('TOKEN-DPOP')).toMatchObject({
        verdict: 'skip',
        saw: expect.stringContaining('challenge'),
      });
    });
  });
});

describe('another audience', () => {
  /** The authorization server issues for whatever resource a refresh names. */
  const issuesForAll: Fault = (server) => {
    const sound = server.routes['POST /token'];
    if (!sound) throw new Error('no token endpoint');
    server.routes['POST /token'] = async (seen) => {
      const { audience } = server.rules;
      server.rules.audience = (resource) => new URLSearchParams(seen.body).get('resource') ?? resource;
      const reply = await sound(seen);
      server.rules.audience = audience;
      return reply;
    };
  };

  const only = ['TOKEN-OTHER-AUDIENCE'];

  describe('a token for another resource', () => {
    it('is found accepted', () =>
      expectFound([
        '',
        (server) => {
          issuesForAll(server);
          server.rules.checksAudience = false;
        },
        'TOKEN-OTHER-AUDIENCE',
        'fail',
        /aud "https:\/\/doctor\.invalid\/mcp" was accepted at http:\/\/127\.0\.0\.1:\d+\/mcp/,
      ]));

    it('passes where it is refused, be it for a resource that the user named', async () => {
      const login = headlessLogin({ otherResource: 'https://other.example/mcp' });
      const { finding } = await examineActively(issuesForAll, { only, login });
      expect(finding('TOKEN-OTHER-AUDIENCE')).toMatchObject({
        verdict: 'pass',
        saw: expect.stringContaining('aud "https://other.example/mcp" was refused'),
      });
    });

    it('is skipped where none is issued, and unknown where the resource is ignored', async () => {
      const refusing = await examineActively(
        atGrant('refresh_token', (reply, { body }) =>
          body.includes('doctor.invalid') ? refusal('invalid_target') : reply,
        ),
        { only },
      );
      expect(refusing.finding('TOKEN-OTHER-AUDIENCE')).toMatchObject({
        verdict: 'skip',
        saw: expect.stringContaining('invalid_target'),
      });
      const ignoring = await examineActively(undefined, { only });
      expect(ignoring.finding('TOKEN-OTHER-AUDIENCE').verdict).toBe('unknown');
    });
  });
});

describe('revocation', () => {
  const faults: FaultCase[] = [
    [
      'is accepted all the same',
      (server) => {
        server.rules.revocationCounts = false;
      },
      'TOKEN-REVOKED',
      'warn',
      /answered with 200, but the token was still accepted 0\.\d s later/,
    ],
    [
      'cannot be revoked by a public client',
      (server) => server.change('POST /revoke', () => refusal('invalid_client', 401)),
      'TOKEN-REVOKED',
      'fail',
      /answered with 401, "invalid_client"/,
    ],
  ];

  describe('a revoked token', () => {
    it.each(faults)('is found where it %s', async (...fault) => expectFound(fault));

    it('is timed until it is refused', async () => {
      const login = headlessLogin({ revokedAfterSeconds: [0, 0.1, 0.3, 1] });
      const { finding } = await examineActively(
        (server) => {
          server.rules.revocationCounts = false;
          server.change('POST /revoke', (reply) => {
            setTimeout(() => {
              server.rules.revocationCounts = true;
            }, 150);
            return reply;
          });
        },
        { only: ['TOKEN-REVOKED'], login },
      );
      expect(finding('TOKEN-REVOKED').verdict).toBe('pass');
      const waited = Number(/refused (\d+) ms after/.exec(finding('TOKEN-REVOKED').saw)?.[1]);
      expect(waited).toBeGreaterThan(140);
      expect(waited).toBeLessThan(3000);
    });

    it('is skipped where access tokens cannot be revoked', async () => {
      const only = ['TOKEN-REVOKED'];
      const none = await examineActively(
        (server) =>
          server.publish('GET /.well-known/oauth-authorization-server', { revocation_endpoint: undefined }),
        { only },
      );
      expect(none.finding('TOKEN-REVOKED').verdict).toBe('skip');
      const unsupported = await examineActively(
        (server) => server.change('POST /revoke', () => refusal('unsupported_token_type')),
        { only },
      );
      expect(unsupported.finding('TOKEN-REVOKED')).toMatchObject({
        verdict: 'skip',
        saw: expect.stringContaining('unsupported_token_type'),
      });
    });
  });
});
