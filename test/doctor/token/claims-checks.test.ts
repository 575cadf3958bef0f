import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  claimFaults,
  clockCheck,
  compareAudience,
  describeSkew,
  readClaims,
} from '../../../src/doctor/token/claims-checks.ts';
import { atGrant, expectFound, type FaultCase } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';
import { subjectOf } from '../support/subject.ts';

const faults: FaultCase[] = [
  [
    'it is for another audience than the server',
    (server) => {
      server.rules.audience = () => 'https://api.example';
      server.rules.checksAudience = false;
    },
    'TOKEN-AUDIENCE',
    'fail',
    /aud is "https:\/\/api\.example", and the token was asked for with the resource "http:\/\/127\.0\.0\.1:\d+\/mcp"/,
  ],
  [
    'its audience has a slash more',
    (server) => {
      server.rules.audience = (resource) => `${resource}/`;
      server.rules.checksAudience = false;
    },
    'TOKEN-AUDIENCE',
    'warn',
    /only the spelling differs/,
  ],
  [
    'it has ended when it comes',
    (server) => {
      server.rules.expiresInSeconds = -20;
      server.change('POST /token', (reply) =>
        reply.status === undefined
          ? { ...reply, json: { ...(reply.json as object), expires_in: 3600 } }
          : reply,
      );
    },
    'TOKEN-CLAIMS',
    'fail',
    /exp is (?:20|21) seconds ago/,
  ],
];

describe('the access token', () => {
  it.each(faults)('is found wrong where %s', async (...fault) => expectFound(fault));

  it('is not judged where it is opaque', async () => {
    const report = await examineActively(
      atGrant('authorization_code', (reply) => ({
        ...reply,
        json: {
          ...(reply.json as object),
          ...('access_token' in Object(reply.json) ? { access_token: 'opaque' } : {}),
        },
      })),
      { only: ['TOKEN-CLAIMS', 'TOKEN-AUDIENCE'] },
    );
    expect(report.findings.map(({ verdict }) => verdict)).toEqual(['skip', 'skip']);
  });
});

describe('claims', () => {
  const issuer = 'https://as.example';
  const now = 1_800_000_000;
  const sound = { header: { alg: 'ES256', typ: 'at+jwt' }, payload: { iss: issuer, exp: now + 60 } };

  describe('an access token', () => {
    it('is read where it is a JWT, and opaque otherwise', async () => {
      const token = await new SignJWT({ scope: 'a' })
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
        .sign(new Uint8Array(32));
      expect(readClaims(token)).toEqual({ header: { alg: 'HS256', typ: 'at+jwt' }, payload: { scope: 'a' } });
      expect(readClaims('opaque')).toBeUndefined();
      expect(readClaims('a.b.c')).toBeUndefined();
    });

    it.each([
      ['https://a.example/mcp', 'same'],
      [['x', 'https://a.example/mcp'], 'same'],
      ['https://A.example/mcp/', 'alike'],
      ['https://a.example', 'other'],
      [undefined, 'other'],
    ] as const)('with aud %j is for the resource: %s', (aud, verdict) => {
      expect(compareAudience(aud === undefined ? aud : [aud].flat(), 'https://a.example/mcp')).toBe(verdict);
    });

    it('has no fault with the issuer, an algorithm and an end ahead', () => {
      expect(claimFaults(sound, { issuer, now })).toEqual([]);
    });

    it.each([
      [{ ...sound, header: { alg: 'none' } }, /alg is "none"/],
      [{ ...sound, payload: { ...sound.payload, iss: `${issuer}/` } }, /iss is "https:\/\/as\.example\/"/],
      [{ ...sound, payload: { iss: issuer } }, /exp is missing/],
      [{ ...sound, payload: { ...sound.payload, exp: now - 5 } }, /exp is 5 seconds ago/],
      [{ ...sound, payload: { ...sound.payload, nbf: now + 94 } }, /nbf is 94 seconds ahead/],
    ])('has one fault', (claims, fault) => {
      const faults = claimFaults(claims, { issuer, now });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(fault);
    });
  });
});

describe('the clocks', () => {
  it('of the authorization server is found ahead by the iat of its tokens', () =>
    expectFound([
      '',
      (server) => {
        server.rules.clockSkewSeconds = 94;
      },
      'TOKEN-CLOCK',
      'warn',
      /the clock of the authorization server \(iat, nbf\) is 9[3-5] s ahead of yours/,
    ]));

  it('of this machine is blamed where both servers agree with each other', async () => {
    const { subject } = await subjectOf((server) => {
      server.rules.clockSkewSeconds = -94;
      server.change('POST /mcp', (reply) => ({
        ...reply,
        headers: { ...reply.headers, date: new Date(Date.now() - 94_000).toUTCString() },
      }));
    });
    const judgement = await clockCheck.judge(subject);
    expect(judgement).toMatchObject({ verdict: 'warn', fix: expect.stringContaining('this machine') });
    expect(judgement.saw).toMatch(/Your clock is 9[3-6] s fast\.$/);
  });

  it('of the MCP server is told without a login, from its Date', async () => {
    const { subject } = await subjectOf(undefined, { passive: true, login: {} });
    expect(await clockCheck.judge(subject)).toMatchObject({
      verdict: 'pass',
      saw: expect.stringContaining('MCP server (Date)'),
    });
  });

  it('is not told from an answer that a cache kept', async () => {
    const { finding } = await examineActively(
      (server) => {
        server.change('POST /mcp', (reply) => ({ ...reply, headers: { ...reply.headers, age: '10' } }));
        server.change('POST /token', (reply) =>
          reply.status === undefined
            ? { ...reply, json: { ...(reply.json as object), access_token: 'opaque' } }
            : reply,
        );
      },
      { only: ['TOKEN-CLOCK'] },
    );
    expect(finding('TOKEN-CLOCK').verdict).toBe('unknown');
  });

  it.each([
    [0, 'the clock of x agrees with yours'],
    [3, 'the clock of x is 3 s ahead of yours'],
    [-94, 'the clock of x is 94 s behind yours'],
  ])('with %d s between them are described', (ahead, words) => {
    expect(describeSkew('x', ahead)).toBe(words);
  });
});
