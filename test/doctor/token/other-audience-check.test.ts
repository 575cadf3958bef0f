import { describe, expect, it } from 'vitest';
import { atGrant, expectFound, refusal } from '../support/active-faults.ts';
import { examineActively, headlessLogin } from '../support/login.ts';
import type { Fault } from '../support/server.ts';

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
