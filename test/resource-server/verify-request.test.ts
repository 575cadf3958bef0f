import { describe, expect, it } from 'vitest';
import type { AuthInfo } from '../../src/oauth/auth-info.ts';
import { maxBearerLength } from '../../src/oauth/challenge.ts';
import { type CredentialsOfRequest, verifyRequest } from '../../src/resource-server/verify-request.ts';

const resource = 'https://mcp.example.com/mcp';

const caller: AuthInfo = {
  issuer: 'https://mcp.example.com',
  subject: 'ann',
  clientId: 'client-1',
  scopes: ['notes:read'],
  audience: resource,
  expiresAt: 1_800_000_000,
};

const policy = {
  resource,
  resourceMetadataUrl: 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp',
  baselineScopes: ['notes:read'],
  requiredScopes: [],
};

async function reasonFor(
  request: Partial<CredentialsOfRequest>,
  chosen: { caller?: AuthInfo; requiredScopes?: string[]; sameServer?: string[] } = {},
): Promise<string> {
  const verdict = await verifyRequest(
    {
      authorization: [],
      query: '',
      proven: () => {
        throw new Error('asked for a proof');
      },
      ...request,
    },
    {
      ...policy,
      verifier: { verify: async (token) => (token === 'good' ? (chosen.caller ?? caller) : undefined) },
      requiredScopes: chosen.requiredScopes ?? [],
      sameServer: chosen.sameServer,
    },
  );
  return 'refusal' in verdict ? verdict.refusal.reason : `passes as ${verdict.authInfo.subject}`;
}

describe('a request', () => {
  it.each<[string, Partial<CredentialsOfRequest>, string]>([
    ['with a good token passes', { authorization: ['Bearer good'] }, 'passes as ann'],
    ['with the scheme in any case passes', { authorization: ['bEARER good'] }, 'passes as ann'],
    ['without a header has no credentials', {}, 'no_credentials'],
    ['with another scheme has no credentials', { authorization: ['Basic YTpi'] }, 'no_credentials'],
    ['with garbage has no credentials', { authorization: ['%%%'] }, 'no_credentials'],
    ['with an empty Bearer has no credentials', { authorization: ['Bearer '] }, 'no_credentials'],
    [
      'with a token of illegal characters has a bad one',
      { authorization: ['Bearer "a" b'] },
      'malformed_token',
    ],
    [
      'with a token of absurd length has a bad one',
      { authorization: [`Bearer ${'a'.repeat(maxBearerLength + 1)}`] },
      'malformed_token',
    ],
    ['with an unknown token is refused', { authorization: ['Bearer bad'] }, 'unusable_token'],
    [
      'with two headers is refused, even with a good token',
      { authorization: ['Bearer good', 'Bearer good'] },
      'two_authorization_headers',
    ],
  ])('%s (T-095, A8-02)', async (_rule, request, reason) => {
    expect(await reasonFor(request)).toBe(reason);
  });

  it('with a token in the query alone has no credentials (T-101, A8-02)', async () => {
    expect(await reasonFor({ query: 'access_token=good' })).toBe('no_credentials');
  });

  it('with a token in the header and in the query is refused (T-101; RFC 6750 section 2)', async () => {
    const request = { authorization: ['Bearer good'], query: 'access_token=good' };
    expect(await reasonFor(request)).toBe('token_also_in_query');
  });

  it.each([
    'https://other.example.com/mcp',
    'https://mcp.example.com',
    'https://mcp.example.com/mcp/',
    'https://mcp.example.com/mcp2',
    '',
  ])('with a token for %j is refused: only our own identifier counts (T-096, A7-03)', async (audience) => {
    const request = { authorization: ['Bearer good'] };
    expect(await reasonFor(request, { caller: { ...caller, audience } })).toBe('wrong_audience');
  });

  it('with a token for another transport of the same server passes, and for another server does not (FA-20, T-096)', async () => {
    const request = { authorization: ['Bearer good'] };
    const sameServer = ['https://mcp.example.com/sse'];
    const ask = (audience: string) => reasonFor(request, { caller: { ...caller, audience }, sameServer });
    expect(await ask('https://mcp.example.com/sse')).toBe('passes as ann');
    expect(await ask('https://mcp.example.com/sse/')).toBe('wrong_audience');
    expect(await ask('https://mcp.example.com/rest')).toBe('wrong_audience');
  });

  it('with too little scope is refused, and with enough passes (T-102, A8-04)', async () => {
    const request = { authorization: ['Bearer good'] };
    expect(await reasonFor(request, { requiredScopes: ['notes:read', 'notes:write'] })).toBe(
      'insufficient_scope',
    );
    expect(await reasonFor(request, { requiredScopes: ['notes:read'] })).toBe('passes as ann');
  });

  it('with too little scope for another resource hears of the resource first', async () => {
    const chosen = { caller: { ...caller, audience: 'https://other.example.com' }, requiredScopes: ['x'] };
    expect(await reasonFor({ authorization: ['Bearer good'] }, chosen)).toBe('wrong_audience');
  });
});

it('The decision rejects with the error of a verifier, whether the verifier throws or its promise rejects', async () => {
  const request: CredentialsOfRequest = {
    authorization: ['Bearer good'],
    query: '',
    proven: () => expect.unreachable(),
  };
  const fault = new Error('no database');
  const throws = (): never => {
    throw fault;
  };
  const rejects = (): Promise<never> => Promise.reject(fault);
  for (const verify of [throws, rejects])
    await expect(verifyRequest(request, { ...policy, verifier: { verify } })).rejects.toBe(fault);
});
