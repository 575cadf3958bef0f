import { describe, expect, it } from 'vitest';
import { revokeCredential } from '../../../src/client/index.ts';
import { testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { startAuthorizationServer } from '../support/protected-server.ts';

describe('revocation', () => {
  it('ends the refresh token at its own issuer', async () => {
    const as = await startAuthorizationServer();
    as.refreshTokens.add('rt');
    const credential = testCredential({ issuer: as.origin });
    expect(await revokeCredential(testContext(), credential, testRegistration())).toBe(true);
    expect(as.refreshTokens.size).toBe(0);
    expect(Object.fromEntries(new URLSearchParams(as.requests[0]?.body))).toEqual({
      token: 'rt',
      token_type_hint: 'refresh_token',
      client_id: 'client',
    });
  });

  it('ends the access token where there is no refresh token', async () => {
    const as = await startAuthorizationServer();
    await revokeCredential(
      testContext(),
      testCredential({ issuer: as.origin, refreshToken: undefined }),
      testRegistration(),
    );
    expect(as.requests[0]?.body).toContain('token=at');
  });

  it('is not possible without an endpoint, and says so when refused', async () => {
    const as = await startAuthorizationServer();
    const credential = testCredential({ issuer: as.origin });
    const { revocation_endpoint: _, ...without } = credential.authorizationServer;
    const none = { ...credential, authorizationServer: without };
    expect(await revokeCredential(testContext(), none, testRegistration())).toBe(false);
    as.routes['POST /revoke'] = { status: 400, json: { error: 'unsupported_token_type' } };
    await expect(revokeCredential(testContext(), credential, testRegistration())).rejects.toMatchObject({
      reason: 'token_refused',
      message: expect.not.stringContaining('rt"'),
    });
  });
});
