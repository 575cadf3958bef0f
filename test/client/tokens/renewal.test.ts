import { describe, expect, it } from 'vitest';
import { createDpopKey } from '../../../src/client/tokens/dpop.ts';
import { clientOf, refreshCredential, renewCredential } from '../../../src/client/tokens/renewal.ts';
import { startOfTime, testContext } from '../support/context.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';
import { checkProof } from '../support/proofs.ts';
import { startAuthorizationServer } from '../support/protected-server.ts';

describe('a renewal', () => {
  it('of a token that is bound to a key is bound to the same key (A13-09)', async () => {
    const as = await startAuthorizationServer();
    as.routes['POST /token'] = { json: { access_token: 'at2', token_type: 'DPoP' } };
    const dpopKey = await createDpopKey();
    const credential = { ...testCredential({ issuer: as.origin, dpopKey }), refreshToken: 'rt' };
    const renewed = await refreshCredential(testContext(), credential, testRegistration());
    expect(renewed).toMatchObject({ kind: 'refreshed', credential: { accessToken: 'at2', dpopKey } });
    const [sent] = as.requests;
    if (sent === undefined) throw new Error('no request');
    expect(checkProof(sent, as.origin, startOfTime).jkt).toBeDefined();
  });

  it('that makes a bound token a bearer token is refused, and its refresh token is kept (A13-09, FA-25)', async () => {
    const as = await startAuthorizationServer();
    as.refreshTokens.add('rt');
    const dpopKey = await createDpopKey();
    const credential = { ...testCredential({ issuer: as.origin, dpopKey }), refreshToken: 'rt' };
    const renewal = await refreshCredential(testContext(), credential, testRegistration());
    expect(renewal).toMatchObject({ kind: 'refused', successor: { accessToken: credential.accessToken } });
    // The one that was sent is used up, whatever the token that came with its successor is.
    const [successor] = as.refreshTokens;
    expect(renewal).toMatchObject({ successor: { refreshToken: successor } });
  });

  it('of a token that never said when it ends has the end of the new one only (A9-05)', async () => {
    const as = await startAuthorizationServer();
    as.routes['POST /token'] = { json: { access_token: 'at2', token_type: 'Bearer' } };
    const credential = testCredential({ issuer: as.origin });
    const renewed = await renewCredential(testContext(), credential, testRegistration());
    expect(renewed).toMatchObject({ kind: 'refreshed', credential: { refreshToken: 'rt' } });
    if (renewed?.kind === 'refreshed') expect(renewed.credential.expiresAt).toBeUndefined();
  });

  it('repeats the grant of a client that got the token for itself, with its own secret (A13-02)', async () => {
    const as = await startAuthorizationServer();
    as.routes['POST /token'] = { json: { access_token: 'at2', token_type: 'Bearer' } };
    const grant = { type: 'client_credentials' as const, clientSecret: 's' };
    const credential = testCredential({ issuer: as.origin, refreshToken: undefined, grant });
    const holder = clientOf(credential, undefined);
    if (holder === undefined) throw new Error('no holder');
    expect(await renewCredential(testContext(), credential, holder)).toMatchObject({
      kind: 'refreshed',
      credential: { accessToken: 'at2', grant },
    });
    expect(Object.fromEntries(new URLSearchParams(as.requests[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      resource: 'https://mcp.example/mcp',
      scope: 'read',
    });
    expect(as.requests[0]?.headers.authorization).toBe(`Basic ${btoa('client:s')}`);
  });

  it('is not possible with neither', () => {
    const credential = testCredential({ refreshToken: undefined });
    expect(renewCredential(testContext(), credential, testRegistration())).toBeUndefined();
  });
});

describe('the holder of a credential', () => {
  it('is the client it was issued to, and no other at the same issuer (A5-10)', () => {
    const registration = testRegistration();
    expect(clientOf(testCredential(), registration)).toBe(registration);
    const itself = { clientId: 'client', tokenEndpointAuthMethod: 'none' };
    const newer = testRegistration({ clientId: 'newer', clientSecret: 'of another' });
    expect(clientOf(testCredential(), newer)).toEqual(itself);
    expect(clientOf(testCredential(), undefined)).toEqual(itself);
  });

  it('is in the credential where the client got it for itself', () => {
    const grant = { type: 'client_credentials' as const, clientSecret: 's' };
    expect(clientOf(testCredential({ clientId: 'robot', grant }), testRegistration())).toMatchObject({
      clientId: 'robot',
      clientSecret: 's',
    });
  });
});
