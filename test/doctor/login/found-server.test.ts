import { describe, expect, it } from 'vitest';
import { examineActively } from '../support/login.ts';
import { type Fault, routeNames } from '../support/server.ts';

const faults: [string, Fault, string][] = [
  [
    'names another resource',
    (server) => server.publish(routeNames.protectedResource, { resource: 'https://x.example/' }),
    'PRM-RESOURCE',
  ],
  [
    'names another issuer',
    (server) => server.publish(routeNames.authorizationServer, { issuer: 'https://x.example' }),
    'AS-ISSUER',
  ],
  [
    'has its token endpoint elsewhere',
    (server) =>
      server.publish(routeNames.authorizationServer, { token_endpoint: 'http://localhost:1/token' }),
    'AS-ENDPOINT-ORIGIN',
  ],
  [
    'advertises no PKCE',
    (server) =>
      server.publish(routeNames.authorizationServer, { code_challenge_methods_supported: undefined }),
    'AS-PKCE',
  ],
];

describe('a server to which no login leads', () => {
  it.each(faults)(
    'where it %s, is not registered at, and each check names the cause',
    async (_rule, fault, cause) => {
      const report = await examineActively(fault);
      for (const id of ['REG-LOOPBACK-PORT', 'LOGIN-REQUEST', 'LOGIN-TOKEN-ERROR'])
        expect(report.finding(id)).toMatchObject({ verdict: 'skip', because: cause });
      expect(report.findings.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id)).toEqual([
        'TOKEN-CLOCK',
      ]);
      expect(report.server.asked()).not.toContain('POST /register');
    },
  );

  it('for a reason that no check has, is unknown', async () => {
    const report = await examineActively((server) => {
      for (const place of [routeNames.authorizationServer, routeNames.openidConfiguration])
        server.change(place, () => ({ status: 503 }));
    });
    expect(report.finding('REG-LOOPBACK-PORT')).toMatchObject({
      verdict: 'unknown',
      saw: expect.stringContaining('status 503'),
    });
  });
});
