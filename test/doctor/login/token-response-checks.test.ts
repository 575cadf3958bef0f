import { describe, expect, it } from 'vitest';
import { atGrant, expectFound, type FaultCase, page, refusal } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';

const faults: FaultCase[] = [
  [
    'a code is not exchanged',
    atGrant('authorization_code', (reply) => (reply.status === undefined ? refusal('invalid_grant') : reply)),
    'LOGIN-CODE',
    'fail',
    /The redemption of the code was refused with status 400, "invalid_grant"/,
  ],
  [
    'the token response may be stored by caches',
    atGrant('authorization_code', (reply) => ({
      ...reply,
      headers: { 'cache-control': 'public, max-age=60' },
    })),
    'LOGIN-TOKEN-RESPONSE',
    'warn',
    /Cache-Control is "public, max-age=60", not no-store/,
  ],
  [
    'the token response has no lifetime',
    atGrant('authorization_code', (reply) => ({
      ...reply,
      json: { ...(reply.json as object), expires_in: undefined },
    })),
    'LOGIN-TOKEN-RESPONSE',
    'warn',
    /expires_in is missing/,
  ],
  [
    'errors of the token endpoint are pages',
    (server) =>
      server.change('POST /token', (reply) => (reply.status === 400 ? { ...page, status: 500 } : reply)),
    'LOGIN-TOKEN-ERROR',
    'fail',
    /answered with status 500 \("text\/html"\) without an OAuth error/,
  ],
  [
    'errors of the token endpoint are 200',
    (server) =>
      server.change('POST /token', (reply) => (reply.status === 400 ? { ...reply, status: 200 } : reply)),
    'LOGIN-TOKEN-ERROR',
    'warn',
    /refused with status 200, "invalid_grant"/,
  ],
  [
    'fewer scopes are granted than asked for',
    (server) => {
      server.rules.grantedScopes = () => ['profile'];
    },
    'LOGIN-SCOPE',
    'warn',
    /Asked for "notes:read", granted "profile": notes:read missing/,
  ],
  [
    'no refresh token is issued (AS-6, A9-02)',
    (server) => {
      server.rules.issuesRefreshTokens = false;
    },
    'LOGIN-REFRESH-TOKEN',
    'warn',
    /log in again after 3600 seconds.*scopes_supported has no offline_access/,
  ],
];

describe('what the token endpoint answers to a login', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('explains a missing refresh token by what the metadata says', async () => {
    const report = await examineActively((server) => {
      server.rules.issuesRefreshTokens = false;
      server.publish('GET /.well-known/oauth-authorization-server', {
        grant_types_supported: ['authorization_code'],
      });
    });
    expect(report.finding('LOGIN-REFRESH-TOKEN').saw).toContain('grant_types_supported has no refresh_token');
    expect(report.finding('LOGIN-REUSE')).toMatchObject({ verdict: 'skip', because: 'LOGIN-REFRESH-TOKEN' });
  });

  it('shows no token in any sentence, and none in the exchanges (T-191)', async () => {
    const { findings, exchanges } = await examineActively();
    const text = JSON.stringify({ findings, exchanges });
    expect(text).toContain('access_token');
    expect(text).not.toMatch(/"rt-|"code-|eyJ[\w-]{20}|code=code-|rt-[0-9a-f]{8}/);
  });

  it('does not miss offline_access where a refresh token came', async () => {
    const report = await examineActively((server) => {
      server.publish('GET /.well-known/oauth-authorization-server', {
        scopes_supported: ['notes:read', 'offline_access'],
      });
      server.rules.grantedScopes = (asked) => asked.filter((scope) => scope !== 'offline_access');
    });
    expect(report.finding('LOGIN-SCOPE')).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('offline_access'),
    });
  });
});
