import { describe, expect, it } from 'vitest';
import { atGrant, expectFound, type FaultCase } from '../support/active-faults.ts';
import { examineActively } from '../support/login.ts';

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
