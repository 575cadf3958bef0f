import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { atGrant, refusal } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import type { Fault, TestServer } from '../support/server.ts';

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
