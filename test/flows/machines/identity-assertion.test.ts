import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hashClientSecret } from '../../../src/authorization-server/operator-clients/client-secret.ts';
import { ada, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { post, tryAccess } from '../../support/oauth.ts';
import { nodeCount } from '../../support/test-storage.ts';
import { createTestIssuer } from '../../support/trusted-issuer.ts';
import { countStatuses, expectRefused, expectTokens, generousLimits } from '../token/subject.ts';
import {
  basic,
  clientWithSecret,
  type EnterpriseSetUp,
  jwtBearer,
  trustIdentityProvider,
} from './subject.ts';

// Over src/authorization-server/trusted-issuers/jwt-bearer-grant.ts, src/authorization-server/trusted-issuers/identity-grant.ts,
// src/authorization-server/trusted-issuers/assertion.ts, src/authorization-server/trusted-issuers/trusted-issuer.ts,
// src/authorization-server/trusted-issuers/granted-scopes.ts, src/authorization-server/engine/grant-parts.ts,
// src/authorization-server/engine/engine-internals.ts, src/authorization-server/engine/oidc-provider-lib.d.ts and
// src/authorization-server/own-grants.ts.

const now = (): number => Math.floor(Date.now() / 1000);

let setUp: EnterpriseSetUp;
beforeAll(async () => {
  setUp = await trustIdentityProvider(undefined, {
    clients: [
      { ...clientWithSecret('open'), authMethod: 'none', secretHash: undefined },
      clientWithSecret('reader', { scopes: ['notes:read'] }),
      clientWithSecret('coder', {
        grantTypes: ['authorization_code'],
        redirectUris: ['https://coder.example/cb'],
      }),
    ],
  });
});
afterAll(() => setUp.gatehouse.stop());

describe('an identity assertion', () => {
  it('gives its client a token of the person, for the resource it names, and no refresh token (A13-07, A13-08)', async () => {
    const { gatehouse, assertion, present } = setUp;
    const response = await present(await assertion({ scope: 'notes:read' }));
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const body = JSON.parse(text);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43,}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'notes:read',
    });
    expect(response.headers.get('cache-control')).toContain('no-store');
    expect(await tryAccess(gatehouse.mcpUrl, body.access_token)).toBe(200);
  });

  it.each([
    ['of another type', {}, { typ: 'JWT' }],
    ['of no type', {}, { typ: undefined }],
    ['of the type of an access token', {}, { typ: 'at+jwt' }],
    ['for another server', { aud: 'https://other.example' }, {}],
    ['for us and another server', { aud: ['US', 'https://other.example'] }, {}],
    ['for the token endpoint', { aud: 'US/token' }, {}],
    ['for nobody', { aud: undefined }, {}],
    ['for another client', { client_id: 'reader' }, {}],
    ['for no client', { client_id: undefined }, {}],
    ['of nobody', { sub: undefined }, {}],
    ['of a stranger', { sub: 'mallory' }, {}],
    ['of another issuer', { iss: 'https://idp.example.com/' }, {}],
    ['of no issuer', { iss: undefined }, {}],
    ['without an end', { exp: undefined }, {}],
    ['that has expired', { exp: now() - 60, iat: now() - 300 }, {}],
    ['that lives too long', { exp: now() + 7200 }, {}],
    ['without a beginning', { iat: undefined }, {}],
    ['from the future', { iat: now() + 120 }, {}],
    ['of ten years ago, with an exp of today (FA-16, T-216)', { iat: now() - 315_360_000 }, {}],
    ['of eleven minutes ago, with an exp of today (FA-16, T-216)', { iat: now() - 660 }, {}],
    ['with an age in words (FA-16, T-216)', { iat: 'now' as unknown as number }, {}],
    ['that begins later', { nbf: now() + 120 }, {}],
    ['without a jti', { jti: undefined }, {}],
    ['with an endless jti', { jti: 'x'.repeat(256) }, {}],
    ['that points to keys', {}, { jku: 'https://idp.example.com/keys' }],
    ['of another key of the issuer', {}, { kid: 'k2' }],
  ] as const)('%s is refused (A13-08)', async (_what, claims, header) => {
    const { gatehouse, assertion, present } = setUp;
    const ours = JSON.parse(JSON.stringify(claims).replaceAll('US', gatehouse.url));
    const whole = { ...claims, ...ours };
    await expectRefused(await present(await assertion(whole, header)), 'invalid_grant');
  });

  it('is refused that another key signed, or none, or the public one as a secret (A13-08)', async () => {
    const { gatehouse, idp, present } = setUp;
    const about = { audience: gatehouse.url, clientId: 'desk', resource: gatehouse.mcpUrl };
    const impostor = await createTestIssuer(idp.issuer);
    await expectRefused(await present(await impostor.assertPerson(about)), 'invalid_grant');
    const good = await idp.assertPerson(about);
    const [, claims = ''] = good.split('.');
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'oauth-id-jag+jwt' })).toString(
      'base64url',
    );
    await expectRefused(await present(`${unsigned}.${claims}.`), 'invalid_grant');
    const secret = new TextEncoder().encode(String(idp.jwks.keys[0]?.n));
    const symmetric = await new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()))
      .setProtectedHeader({ alg: 'HS256', typ: 'oauth-id-jag+jwt', kid: 'k1' })
      .sign(secret);
    await expectRefused(await present(symmetric), 'invalid_grant');
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const embedded = await new SignJWT(JSON.parse(Buffer.from(claims, 'base64url').toString()))
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt', jwk: await exportJWK(publicKey) })
      .sign(privateKey);
    await expectRefused(await present(embedded), 'invalid_grant');
    for (const garbage of ['', 'x', 'a.b.c', `${'x'.repeat(20_000)}.y.z`])
      expect((await present(garbage)).status).toBe(400);
  });

  it('opens the server of the resource that it names (A13-08, A7-02, FA-20)', async () => {
    const { gatehouse, assertion, present } = setUp;
    for (const resource of [
      'https://other.example/mcp',
      undefined,
      [],
      [gatehouse.mcpUrl, `${gatehouse.url}/rest`],
    ])
      await expectRefused(await present(await assertion({ resource })), 'invalid_target');
    const elsewhere = { resource: `${gatehouse.url}/rest` };
    await expectRefused(await present(await assertion(), elsewhere), 'invalid_target');
    await expectTokens(await present(await assertion({ resource: [`${gatehouse.mcpUrl}/`] })));
    const token = (await expectTokens(await present(await assertion(elsewhere)))).access_token;
    expect(await tryAccess(gatehouse.mcpUrl, token)).toBe(200);
  });

  it('gives no scope that the assertion, the client or the server does not have (A13-08, T-063)', async () => {
    const { gatehouse, idp, assertion, present } = setUp;
    const scopeOf = async (response: Response) => (await expectTokens(response)).scope;
    expect(await scopeOf(await present(await assertion({ scope: 'notes:read admin:all' })))).toBe(
      'notes:read',
    );
    const both = await assertion({ scope: 'notes:read notes:write' });
    expect(await scopeOf(await present(both, { scope: 'notes:read offline_access' }))).toBe('notes:read');
    const wide = { scope: 'notes:read notes:write' };
    expect(await scopeOf(await present(await assertion({ scope: 'notes:read' }), wide))).toBe('notes:read');
    await expectRefused(
      await present(await assertion({ scope: 'notes:read' }), { scope: 'notes:write' }),
      'invalid_scope',
    );
    await expectRefused(await present(await assertion({ scope: 'admin:all' })), 'invalid_scope');
    const asReader = async (claims: object, fields: Record<string, string>) =>
      post(
        `${gatehouse.url}/token`,
        {
          grant_type: jwtBearer,
          assertion: await idp.assertPerson(
            { audience: gatehouse.url, clientId: 'reader', resource: gatehouse.mcpUrl },
            { ...claims },
          ),
          ...fields,
        },
        basic('reader'),
      );
    expect(await scopeOf(await asReader(wide, {}))).toBe('notes:read');
    expect(await scopeOf(await asReader(wide, wide))).toBe('notes:read');
    await expectRefused(await asReader(wide, { scope: 'notes:write' }), 'invalid_scope');
  });

  it('whose scope is no text is refused: a limit that cannot be read is not no limit (FA-15, T-215)', async () => {
    const { assertion, present } = setUp;
    for (const scope of [['notes:read'], null, 0, {}, true])
      await expectRefused(await present(await assertion({ scope })), 'invalid_grant');
  });

  it('counts once, however close together two come, and is not used up by a refusal (A13-08)', async () => {
    const { gatehouse, assertion, present } = setUp;
    const once = await assertion();
    await expectRefused(await present(once, { scope: 'admin:all' }), 'invalid_scope');
    const before = await countIssued(gatehouse.folder);
    const { artifacts } = gatehouse.storage;
    const find = artifacts.find.bind(artifacts);
    const allLooked = Promise.withResolvers<void>();
    let looked = 0;
    const spy = vi.spyOn(artifacts, 'find').mockImplementation(async (kind, id) => {
      const row = await find(kind, id);
      if (kind !== 'IdentityAssertion') return row;
      if (++looked === 12) allLooked.resolve();
      // Of two nodes, this one sees a part of them.
      if (nodeCount === 1) await allLooked.promise;
      return row;
    });
    const answers = await Promise.all(Array.from({ length: 12 }, () => present(once)));
    spy.mockRestore();
    expect(countStatuses(answers)).toEqual({ 200: 1, 400: 11 });
    await expectRefused(await present(once), 'invalid_grant');
    const after = await countIssued(gatehouse.folder);
    expect([after.accessTokens - before.accessTokens, after.grants - before.grants]).toEqual([1, 1]);
  });

  it('is for the client that authenticated, with its secret, and may do this (A13-07, A13-08, T-047)', async () => {
    const { gatehouse, idp, assertion } = setUp;
    const fields = async (clientId: string) => ({
      grant_type: jwtBearer,
      assertion: await idp.assertPerson({ audience: gatehouse.url, clientId, resource: gatehouse.mcpUrl }),
    });
    const url = `${gatehouse.url}/token`;
    await expectRefused(
      await post(url, await fields('desk'), basic('desk', 'x'.repeat(32))),
      'invalid_client',
      401,
    );
    await expectRefused(
      await post(url, { ...(await fields('desk')), client_id: 'desk' }),
      'invalid_client',
      401,
    );
    await expectRefused(
      await post(url, { grant_type: jwtBearer, assertion: await assertion() }, basic('reader')),
      'invalid_grant',
    );
    expect((await post(url, { ...(await fields('open')), client_id: 'open' })).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await post(url, await fields('coder'), basic('coder'))).status).toBe(400);
  });

  it('hangs on a grant that the person can end, and ends with the account (T-103)', async () => {
    const { gatehouse, assertion, present } = await trustIdentityProvider();
    onTestFinished(() => gatehouse.stop());
    const first = (await expectTokens(await present(await assertion()))).access_token;
    expect(await tryAccess(gatehouse.mcpUrl, first)).toBe(200);
    await gatehouse.administration.accounts.setPassword(ada.email, 'another good password');
    expect(await tryAccess(gatehouse.mcpUrl, first)).toBe(401);
    const second = (await expectTokens(await present(await assertion()))).access_token;
    await gatehouse.administration.accounts.disable(ada.email);
    expect(await tryAccess(gatehouse.mcpUrl, second)).toBe(401);
    await expectRefused(await present(await assertion()), 'invalid_grant');
  });

  it('is noted in the audit log with who was let in by whom, and never written out (T-197)', async () => {
    const { gatehouse, assertion, present } = setUp;
    const jwt = await assertion();
    await expectTokens(await present(jwt));
    const lines = gatehouse.log.map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        audit: 'identity.accepted',
        clientId: 'desk',
        issuer: 'https://idp.example.com',
        subject: 'ada-at-idp',
        accountId: expect.stringMatching(/^acct_/),
      }),
    );
    expect(gatehouse.log.join('\n')).not.toContain(jwt.split('.')[2]);
  });

  it('is a thing nobody hears of where no issuer is trusted (A13-11)', async () => {
    const other = await startGatehouse({ limits: generousLimits });
    onTestFinished(() => other.stop());
    const metadata = async (url: string) =>
      (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as Record<
        string,
        string[]
      >;
    const { gatehouse } = setUp;
    expect((await metadata(other.url)).grant_types_supported).not.toContain(jwtBearer);
    expect(await metadata(other.url)).not.toHaveProperty('authorization_grant_profiles_supported');
    expect((await metadata(gatehouse.url)).grant_types_supported).toContain(jwtBearer);
    expect((await metadata(gatehouse.url)).authorization_grant_profiles_supported).toEqual([
      'urn:ietf:params:oauth:grant-profile:id-jag',
    ]);
    const client = { clientId: 'desk', name: 'Desk', authMethod: 'client_secret_basic' as const };
    await expect(
      startGatehouse({
        clients: {
          preRegistered: [{ ...client, secretHash: hashClientSecret('x'), grantTypes: [jwtBearer] }],
        },
      }),
    ).rejects.toThrow(/jwt-bearer needs trustedIssuers/);
  });
});
