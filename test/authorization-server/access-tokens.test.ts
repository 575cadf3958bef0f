import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { createAccessTokenSource } from '../../src/authorization-server/access-tokens.ts';
import { grantKey, payloadContext } from '../../src/authorization-server/engine/stored-rows.ts';
import { jwtTokenId } from '../../src/authorization-server/jwt/own-jwt.ts';
import { generateSigningKey } from '../../src/crypto/key-schedule.ts';
import { hashSecret } from '../../src/crypto/secret.ts';
import type { Change } from '../../src/storage/artifacts.ts';
import { startOfTime } from '../storage/contract/subject.ts';
import { commit, link, upstreamSession } from '../storage/contract/upstream.ts';
import { startAdapters } from './storage-subject.ts';

describe('the source of access tokens', () => {
  it('gives what was issued under a value, expired or not, until its grant ends (T-103)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const source = createAccessTokenSource(storage, box, {
      issuer: 'https://as.example.com',
      signing: [],
    });
    await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 60);
    const payload = {
      clientId: 'c',
      accountId: 'ada',
      scope: 'notes:read notes:write',
      aud: 'https://x.example/mcp',
      iat: startOfTime - 100,
      exp: startOfTime - 1,
      grantId: 'g',
    };
    await adapter('AccessToken').upsert('value', payload, 0);
    expect(await source.find('value')).toEqual({
      clientId: 'c',
      subject: 'ada',
      scopes: ['notes:read', 'notes:write'],
      audience: 'https://x.example/mcp',
      issuedAt: startOfTime - 100,
      expiresAt: startOfTime - 1,
      grantId: 'g',
      tokenId: hashSecret('AccessToken', 'value'),
    });
    await adapter('Grant').destroy('g');
    expect(await source.find('value')).toBeUndefined();
  });

  it('looks for the token each time, and unseals it once: what another process ended is gone at once (F3, T-103)', async () => {
    const { storage, box, adapter } = await startAdapters();
    let unsealed = 0;
    const counting = {
      ...box,
      open(sealed: Uint8Array, context: string) {
        unsealed++;
        return box.open(sealed, context);
      },
    };
    const source = createAccessTokenSource(storage, counting, {
      issuer: 'https://as.example.com',
      signing: [],
    });
    await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 60);
    const issue = (scope: string) => adapter('AccessToken').upsert('value', { scope, grantId: 'g' }, 60);
    await issue('notes:read');
    const first = await source.find('value');
    expect(await source.find('value')).toBe(first);
    expect(unsealed).toBe(1);

    await issue('notes:write');
    expect((await source.find('value'))?.scopes).toEqual(['notes:write']);
    await storage.artifacts.revokeGrant(hashSecret('Grant', 'g'));
    expect(await source.find('value')).toBeUndefined();
  });

  it('says what its grant hangs on at an upstream, looked up once, and again when that changes (A10-02)', async () => {
    const { storage, box, adapter } = await startAdapters();
    let reads = 0;
    const artifacts = {
      ...storage.artifacts,
      findAccessToken(id: string) {
        reads++;
        return storage.artifacts.findAccessToken(id);
      },
    };
    const source = createAccessTokenSource({ artifacts }, box, {
      issuer: 'https://as.example.com',
      signing: [],
    });
    await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 60);
    await adapter('AccessToken').upsert('value', { grantId: 'g' }, 60);
    const bond = async () => (await source.find('value'))?.bond;
    expect([await bond(), await bond(), reads]).toEqual([undefined, undefined, 1]);

    const bindGrant = (upstreamSessionId: string): Change => ({
      type: 'bindGrant',
      id: hashSecret('Grant', 'g'),
      upstreamSessionId,
    });
    await commit(storage, link('l'), upstreamSession('s', 'l'), bindGrant('s'));
    expect([await bond(), await bond(), reads]).toEqual([
      { sessionId: 's', linkId: 'l' },
      { sessionId: 's', linkId: 'l' },
      2,
    ]);
    await commit(storage, upstreamSession('t', 'l'), bindGrant('t'));
    expect(await bond()).toEqual({ sessionId: 't', linkId: 'l' });
    await storage.upstreams.endLink('l', { revoke: false });
    expect(await source.find('value')).toBeUndefined();
  });

  it('finds the token of a client that acts for itself', async () => {
    const { storage, box, adapter } = await startAdapters();
    const source = createAccessTokenSource(storage, box, { issuer: 'https://as.example.com', signing: [] });
    await adapter('ClientCredentials').upsert('value', { clientId: 'c' }, 60);
    expect(await source.find('value')).toMatchObject({ subject: 'c' });
  });

  it('says which tokens still stand, by the names they are stored under (A12-04)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const source = createAccessTokenSource(storage, box, {
      issuer: 'https://as.example.com',
      signing: [],
    });
    for (const name of ['g', 'h']) {
      await adapter('Grant').upsert(name, { accountId: 'ada', clientId: 'c' }, 60);
      await adapter('AccessToken').upsert(`token of ${name}`, { grantId: name }, 60);
    }
    const ids = ['token of g', 'token of h', 'never'].map((value) => hashSecret('AccessToken', value));
    expect([...(await source.standing(ids))].sort()).toEqual(ids.slice(0, 2).sort());
    await storage.accounts.remove('ada');
    expect(await source.standing(ids)).toEqual([]);
  });

  it('knows no refresh token, no code and no made-up value (T-041)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const source = createAccessTokenSource(storage, box, {
      issuer: 'https://as.example.com',
      signing: [],
    });
    await adapter('RefreshToken').upsert('value', { scope: 'notes:read' }, 60);
    await adapter('AuthorizationCode').upsert('value', { scope: 'notes:read' }, 60);
    for (const value of ['value', '', 'x'.repeat(10_000), "' OR 1=1 --"])
      expect(await source.find(value)).toBeUndefined();
  });

  it('takes the name under which a token is stored for none, opaque or a JWT, also where it was just used (T-041)', async () => {
    const { storage, box, adapter } = await startAdapters();
    const [issuer, key] = ['https://as.example.com', await generateSigningKey()];
    const source = createAccessTokenSource(storage, box, { issuer, signing: [key] });
    await adapter('Grant').upsert('g', { accountId: 'ada', clientId: 'c' }, 60);
    await adapter('AccessToken').upsert('value', { grantId: 'g' }, 60);
    const [stored] = (await source.standing([hashSecret('AccessToken', 'value')])) as [string];
    const payload = {
      clientId: 'c',
      accountId: 'ada',
      aud: 'https://x.example/mcp',
      iat: 1,
      exp: 2,
      grantId: 'g',
    };
    const jwtName = jwtTokenId('id');
    await commit(storage, {
      type: 'put',
      kind: 'AccessToken',
      id: jwtName,
      payload: box.seal(JSON.stringify(payload), payloadContext('AccessToken', jwtName)),
      grantId: grantKey('g'),
      expiresAt: startOfTime + 60,
    });
    const jwt = await new SignJWT({ iss: issuer, jti: 'id' })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: String(key.kid) })
      .sign(key);
    for (const [token, name] of [
      ['value', stored],
      [jwt, jwtName],
    ] as const) {
      expect((await source.find(token))?.tokenId).toBe(name);
      expect(await source.find(name)).toBeUndefined();
    }
  });
});
