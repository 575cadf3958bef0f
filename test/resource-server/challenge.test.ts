import { describe, expect, it } from 'vitest';
import { parseChallenges } from '../../src/oauth/challenge.ts';
import { describeRefusal, type RefusalReason } from '../../src/resource-server/challenge.ts';

const resourceMetadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';
const context = {
  resourceMetadataUrl,
  baselineScopes: ['notes:read'],
  requiredScopes: ['notes:read', 'notes:write'],
};

const table: [RefusalReason, number, string | undefined, string | undefined][] = [
  ['no_credentials', 401, undefined, 'notes:read'],
  ['two_authorization_headers', 400, 'invalid_request', undefined],
  ['token_also_in_query', 400, 'invalid_request', undefined],
  ['malformed_token', 401, 'invalid_token', 'notes:read'],
  ['unusable_token', 401, 'invalid_token', 'notes:read'],
  ['wrong_audience', 401, 'invalid_token', 'notes:read'],
  ['insufficient_scope', 403, 'insufficient_scope', 'notes:read notes:write'],
];

describe('a refusal', () => {
  it.each(table)(
    'for %s is %s, error %s, scope %s (A8-03, A8-04, A8-09, A8-10)',
    (reason, status, error, scope) => {
      const refusal = describeRefusal(reason, context);
      const [challenge, ...more] = parseChallenges(refusal.challenge);
      expect(more).toEqual([]);
      expect(refusal.status).toBe(status);
      expect(challenge?.scheme).toBe('bearer');
      expect(challenge?.parameters.error).toBe(error);
      expect(challenge?.parameters.scope).toBe(scope);
      expect(challenge?.parameters.resource_metadata).toBe(resourceMetadataUrl);
      expect(refusal.body).toEqual({
        error: error ?? 'unauthorized',
        error_description: expect.stringMatching(/\.$/),
      });
      expect('error_description' in (challenge?.parameters ?? {})).toBe(error !== undefined);
    },
  );

  it('names no scope where the resource has no baseline', () => {
    const { challenge } = describeRefusal('no_credentials', { ...context, baselineScopes: [] });
    expect(challenge).toBe(`Bearer resource_metadata="${resourceMetadataUrl}"`);
  });

  it('keeps quotes and line breaks out of the header, whatever the scopes are (A8-09, T-102)', () => {
    const { challenge } = describeRefusal('insufficient_scope', {
      ...context,
      requiredScopes: ['a", error="none', 'b\r\nSet-Cookie: c=d'],
    });
    expect(challenge).not.toMatch(/[\r\n]/);
    expect(parseChallenges(challenge)).toHaveLength(1);
    expect(parseChallenges(challenge)[0]?.parameters.error).toBe('insufficient_scope');
  });
});
