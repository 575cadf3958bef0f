import { describe, expect, it } from 'vitest';
import { describeTokenAnswer, type TokenAnswer } from '../../../src/doctor/login/token-answer.ts';

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
