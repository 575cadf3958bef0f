import { describe, expect, it } from 'vitest';
import { spendingChecks } from '../../../src/doctor/token/spending-checks.ts';
import { atGrant, refusal } from '../support/active-faults.ts';
import { examined } from '../support/examine.ts';
import { activeSections, examineActively, headlessLogin } from '../support/login.ts';
import { startServer } from '../support/server.ts';

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
