import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/doctor/ask.ts';
import { describeOutcome, isGoingOn, readOutcome } from '../../../src/doctor/login/authorization-outcome.ts';
import { examineActively } from '../support/login.ts';
import { type Fault, routeNames } from '../support/server.ts';

const endpoint = 'https://as.example/authorize';
const redirectUri = 'http://127.0.0.1:53682/callback';

function outcome(status: number, location?: string, text = '') {
  const headers = new Headers(location === undefined ? {} : { location });
  const answer: Answer = {
    kind: 'answered',
    method: 'GET',
    url: endpoint,
    evidence: [7],
    status,
    headers,
    text,
    truncated: false,
  };
  return readOutcome(answer, endpoint, redirectUri);
}

describe('what the authorization endpoint did', () => {
  it.each([
    [302, `${redirectUri}?code=c&state=s`, 'code', 'came back with a code'],
    [303, `${redirectUri}?error=access_denied`, 'error', 'came back to the client with "access_denied"'],
    [302, '/login?return=x', 'onward', 'was sent on to "https://as.example/login"'],
    [302, '/error?error=bad', 'refused', 'was refused with status 302'],
    [302, undefined, 'refused', 'was refused with status 302'],
    [200, undefined, 'page', 'was answered with a page (status 200)'],
    [401, undefined, 'refused', 'was refused with status 401'],
    [503, undefined, 'broken', 'was answered with status 503'],
  ])('%s to %s is read as %s', (status, location, kind, words) => {
    const found = outcome(status, location);
    expect(found.kind).toBe(kind);
    expect(describeOutcome(found)).toContain(words);
    expect(found.evidence).toEqual([7]);
  });

  it('is read from JSON where a server gives scripts that in place of a redirect', () => {
    const json = (url: string) => outcome(200, undefined, JSON.stringify({ redirect: true, url }));
    expect(json('/login?client_id=x')).toMatchObject({ kind: 'onward', place: 'https://as.example/login' });
    expect(json('/error?error=invalid_redirect')).toMatchObject({ kind: 'refused' });
    expect(json(`${redirectUri}?error=invalid_request`)).toMatchObject({ kind: 'error' });
  });

  it('is nothing where no answer came', () => {
    const silence: Answer = {
      kind: 'unanswered',
      method: 'GET',
      url: endpoint,
      evidence: [],
      reason: 'timed_out',
      why: 'no answer in time',
    };
    expect(describeOutcome(readOutcome(silence, endpoint, redirectUri))).toBe(
      'got no answer: no answer in time',
    );
  });
});

describe('whether it went on', () => {
  const login = outcome(302, '/interaction/1234567890abcdef1234');

  it('shows by the way that good requests go, whatever ids are in it', () => {
    expect(isGoingOn(outcome(302, '/interaction/ffff567890abcdef1234'), login)).toBe(true);
    expect(isGoingOn(outcome(302, '/problem'), login)).toBeUndefined();
  });

  it('cannot be told of a page where good requests get none, nor of a broken server', () => {
    expect(isGoingOn(outcome(200), login)).toBeUndefined();
    const page = outcome(200, undefined, '<title>Log in</title><input name="a">');
    expect(isGoingOn(outcome(200, undefined, '<title>Log in</title><p>x<input name="b">'), page)).toBe(true);
    expect(isGoingOn(outcome(200, undefined, '<title>Error</title>'), page)).toBeUndefined();
    expect(isGoingOn(outcome(500), login)).toBeUndefined();
  });

  it('is certain with a code, and with a refusal', () => {
    expect(isGoingOn(outcome(302, `${redirectUri}?code=c`), login)).toBe(true);
    expect(isGoingOn(outcome(400), login)).toBe(false);
    expect(isGoingOn(outcome(302, `${redirectUri}?error=e`), login)).toBe(false);
  });
});

describe('the server of the metadata', () => {
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
});
