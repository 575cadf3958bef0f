import { describe, expect, it } from 'vitest';
import { createDpopKey } from '../../../src/client/dpop/dpop-key.ts';
import { requestTokens, type TokenRequest } from '../../../src/client/tokens/token-request.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { checkProof } from '../support/proofs.ts';
import { type Answer, startServer } from '../support/scripted-server.ts';

async function setUp(answer: Answer | (() => Answer)) {
  const server = await startServer({ 'POST /token': answer });
  const context = testContext();
  const request = (more: Partial<TokenRequest> = {}) =>
    requestTokens(context, {
      authorizationServer: { issuer: server.origin, token_endpoint: `${server.origin}/token` },
      client: { clientId: 'client' },
      grantType: 'urn:example:grant',
      parameters: { assertion: 'very-secret' },
      ...more,
    });
  const proofs = () => server.requests.map((seen) => checkProof(seen, server.origin, startOfTime));
  return { server, request, proofs };
}

const good: Answer = { json: { access_token: 'at', token_type: 'DPoP' } };
const wantsNonce = (nonce: string): Answer => ({
  status: 400,
  headers: { 'dpop-nonce': nonce },
  json: { error: 'use_dpop_nonce' },
});

describe('a token request', () => {
  it('is a form with the grant and its parameters', async () => {
    const { server, request } = await setUp({ json: { access_token: 'at', token_type: 'Bearer' } });
    expect(await request()).toMatchObject({ kind: 'issued', tokens: { access_token: 'at' } });
    expect(Object.fromEntries(new URLSearchParams(server.requests[0]?.body))).toEqual({
      grant_type: 'urn:example:grant',
      assertion: 'very-secret',
      client_id: 'client',
    });
    expect(server.requests[0]?.headers.dpop).toBeUndefined();
  });

  it('with a key carries a proof, and is repeated once with the nonce of the server (A13-09)', async () => {
    const { server, request, proofs } = await setUp(() => {
      const [last] = proofs().slice(-1);
      return last?.nonce === 'n1' ? good : wantsNonce('n1');
    });
    const dpopKey = await createDpopKey();
    expect(await request({ dpopKey })).toMatchObject({ kind: 'issued' });
    expect(await request({ dpopKey })).toMatchObject({ kind: 'issued' });
    expect(proofs().map(({ nonce, ath }) => [nonce, ath])).toEqual([
      [undefined, undefined],
      ['n1', undefined],
      ['n1', undefined],
    ]);
    expect(new Set(proofs().map(({ jti }) => jti)).size).toBe(3);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
  });

  it('is not repeated for a server that always wants another nonce (T-186)', async () => {
    let nonce = 0;
    const { server, request } = await setUp(() => wantsNonce(`n${++nonce}`));
    const answer = await request({ dpopKey: await createDpopKey() });
    expect(answer).toMatchObject({ kind: 'refused', refusal: { error: 'use_dpop_nonce' } });
    expect(server.requests).toHaveLength(2);
  });

  it('that is refused says who refused, and repeats nothing of what was sent (T-191)', async () => {
    const { server, request } = await setUp({ status: 400, json: { error: 'invalid_grant' } });
    const answer = await request({ name: 'identity provider' });
    expect(answer).toEqual({
      kind: 'refused',
      refusal: { error: 'invalid_grant', message: 'The identity provider refused: "invalid_grant".' },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [['n_a'], 'issued'],
    [[], 'refused'],
  ] as const)('takes a token of another type only where it is told to: %j', async (otherTokenTypes, kind) => {
    const { request } = await setUp({ json: { access_token: 'x', token_type: 'N_A' } });
    expect(await request({ otherTokenTypes })).toMatchObject({ kind });
  });

  it('goes to no endpoint in clear text but on loopback', async () => {
    const { request } = await setUp(good);
    const authorizationServer = { issuer: 'https://as.example', token_endpoint: 'http://as.example/token' };
    await expect(request({ authorizationServer })).rejects.toMatchObject({ reason: 'bad_url' });
  });
});
