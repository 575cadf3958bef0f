import { describe, expect, it } from 'vitest';
import { createMemoryStore, freshCredential, loginWithCode } from '../../../src/client/index.ts';
import { headlessAgent } from '../support/agent.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { startAuthorizationServer, startMcpServer } from '../support/protected-server.ts';

/** An authorization server that adds an ID token to every answer, and a login there. */
async function setUp(alg: 'ES256' | 'PS256' | 'HS256' | 'none') {
  const as = await startAuthorizationServer();
  const mcp = await startMcpServer(as);
  const store = createMemoryStore();
  const token = as.routes['POST /token'];
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  as.routes['POST /token'] = (request) => {
    const answer = typeof token === 'function' ? token(request) : {};
    const aud = new URLSearchParams(request.body).get('client_id');
    const claims = { iss: as.origin, sub: 'ann', aud, iat: startOfTime, exp: startOfTime + 60 };
    const idToken = `${encode({ alg })}.${encode(claims)}.c2lnbmVk`;
    return { ...answer, json: { ...Object(answer.json), id_token: idToken } };
  };
  const run = () =>
    loginWithCode(testContext(), mcp.url, { store, agent: headlessAgent(), scopes: ['openid'] });
  return { mcp, store, run };
}

describe('an ID token beside the access token', () => {
  it.each(['ES256', 'PS256'] as const)('is signed with %s, at the login and at its renewal', async (alg) => {
    const { mcp, store, run } = await setUp(alg);
    const { credential } = await run();
    const renewed = await freshCredential(testContext(), store, mcp.url, credential.accessToken);
    expect(renewed?.accessToken).not.toBe(credential.accessToken);
  });

  it.each(['HS256', 'none'] as const)('is not signed with %s', async (alg) => {
    const { run } = await setUp(alg);
    await expect(run()).rejects.toMatchObject({ reason: 'token_refused' });
  });
});
