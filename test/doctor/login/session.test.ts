import { describe, expect, it } from 'vitest';
import { firstConsent } from '../../../src/doctor/login/consent.ts';
import {
  credentialOf,
  describeTokenAnswer,
  firstSession,
  readCode,
  refreshSession,
  type TokenAnswer,
} from '../../../src/doctor/login/session.ts';
import { subjectOf } from '../support/subject.ts';

describe('the first login', () => {
  it('is made once, whoever asks for it', async () => {
    const { subject, server } = await subjectOf();
    const [one, other] = await Promise.all([subject.fact(firstSession), subject.fact(firstSession)]);
    expect(one).toBe(other);
    expect(server.asked().filter((line) => line === 'POST /token')).toHaveLength(1);
  });

  it('keeps its latest tokens, and is revoked in the end', async () => {
    const { subject, server, finish } = await subjectOf();
    const session = await subject.fact(firstSession);
    if (session.kind === 'missing') throw new Error(session.judgement.saw);
    const { refreshToken } = session.held;
    await refreshSession(subject, session);
    expect(session.held.refreshToken).not.toBe(refreshToken);
    await finish();
    const revoked = server.requests
      .filter(({ path }) => path === '/revoke')
      .map(({ body }) => new URLSearchParams(body).get('token'));
    expect(revoked).toEqual([session.held.refreshToken]);
  });

  it('is a credential of this server and nothing else', async () => {
    const { subject, server } = await subjectOf();
    const session = await subject.fact(firstSession);
    if (session.kind === 'missing') throw new Error(session.judgement.saw);
    expect(credentialOf(session, 1000)).toMatchObject({
      resource: server.url,
      authorizationServer: { issuer: server.issuer },
      expiresAt: 1000 + 3600,
      clientId: session.client.clientId,
    });
  });

  it('does not redeem the code of a response with another state (A6-04)', async () => {
    const { subject } = await subjectOf();
    const consent = await subject.fact(firstConsent);
    if (consent.kind === 'missing') throw new Error(consent.judgement.saw);
    const query = new URLSearchParams(consent.query);
    expect(readCode({ ...consent, query })).toEqual({ code: query.get('code') });
    query.set('state', 'other');
    expect(readCode({ ...consent, query })).toMatchObject({ judgement: { because: 'LOGIN-STATE' } });
  });

  it('is not tried with bearer tokens where only tokens bound to a key are taken', async () => {
    const { subject, server } = await subjectOf((one) =>
      one.publish('GET /.well-known/oauth-protected-resource/mcp', {
        dpop_bound_access_tokens_required: true,
      }),
    );
    expect(await subject.fact(firstSession)).toMatchObject({
      kind: 'missing',
      judgement: { verdict: 'unknown', saw: expect.stringContaining('DPoP') },
    });
    expect(server.asked()).not.toContain('POST /token');
  });
});

describe('the token response', () => {
  function answered(status: number, over: Partial<TokenAnswer> = {}, type = 'application/json'): TokenAnswer {
    return {
      answer: {
        kind: 'answered',
        method: 'POST',
        url: 'https://as.example/token',
        evidence: [],
        status,
        headers: new Headers({ 'content-type': type }),
        text: 'secret-of-the-answer',
        truncated: false,
      },
      atMs: 0,
      ...over,
    };
  }

  describe('an answer of the token endpoint in words', () => {
    it.each<[string, TokenAnswer, string]>([
      [
        'tokens',
        answered(200, { tokens: { accessToken: 'at-secret' } }),
        'was answered with tokens (status 200)',
      ],
      [
        'a refusal',
        answered(400, { error: 'invalid_grant', body: { error_description: 'too late' } }),
        'was refused with status 400, "invalid_grant" ("too late")',
      ],
      [
        'a page',
        answered(502, {}, 'text/html'),
        'was answered with status 502 ("text/html") without an OAuth error',
      ],
      [
        'silence',
        {
          answer: {
            kind: 'unanswered',
            method: 'POST',
            url: '',
            evidence: [],
            reason: 'timed_out',
            why: 'no answer in time',
          },
          atMs: 0,
        },
        'got no answer (no answer in time)',
      ],
    ])('says %s, and no secret', (_what, answer, words) => {
      expect(describeTokenAnswer(answer)).toBe(words);
    });
  });
});
