import { describe, expect, it } from 'vitest';
import {
  findJwtFault,
  idTokenChecks,
  type JwtContext,
  logoutTokenChecks,
} from '../../src/upstream/jwt-checks.ts';
import type { UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import type { OpenIdUpstream } from '../support/upstreams/open-id.ts';
import { lin, omar, upstreamClient } from '../support/upstreams/people.ts';
import { createUpstreamKey, signedBySecret, unsigned } from '../support/upstreams/signing.ts';
import { faultOf, logIn, secondsNow, upstreamFor, useWork } from './subject.ts';

const at = useWork();

const hour = 3_600;

describe('an ID token', () => {
  it.each<[string, Parameters<OpenIdUpstream['alterIdTokens']>[0], UpstreamReason]>([
    [
      'of another issuer',
      (claims, key) => key.sign({ ...claims, iss: 'https://evil.example' }),
      'jwt_issuer',
    ],
    ['of nobody', (claims, key) => key.sign({ ...claims, iss: undefined }), 'jwt_issuer'],
    ['for another client', (claims, key) => key.sign({ ...claims, aud: 'another' }), 'jwt_audience'],
    [
      'for two clients, and no word to whom it was issued',
      (claims, key) => key.sign({ ...claims, aud: [upstreamClient.clientId, 'another'] }),
      'jwt_authorized_party',
    ],
    [
      'issued to another client',
      (claims, key) => key.sign({ ...claims, azp: 'another' }),
      'jwt_authorized_party',
    ],
    ['with another nonce', (claims, key) => key.sign({ ...claims, nonce: 'another' }), 'jwt_nonce'],
    ['without a nonce', (claims, key) => key.sign({ ...claims, nonce: undefined }), 'jwt_nonce'],
    ['that has expired', (claims, key) => key.sign({ ...claims, exp: secondsNow() - 120 }), 'jwt_expired'],
    ['without an end', (claims, key) => key.sign({ ...claims, exp: undefined }), 'jwt_claims'],
    ['with an end in words', (claims, key) => key.sign({ ...claims, exp: 'soon' as never }), 'jwt_claims'],
    [
      'from the future',
      (claims, key) => key.sign({ ...claims, iat: secondsNow() + hour }),
      'jwt_from_future',
    ],
    [
      'not in force yet',
      (claims, key) => key.sign({ ...claims, nbf: secondsNow() + hour }),
      'jwt_from_future',
    ],
    ['about nobody', (claims, key) => key.sign({ ...claims, sub: undefined }), 'jwt_claims'],
    [
      'about somebody without end',
      (claims, key) => key.sign({ ...claims, sub: 'x'.repeat(256) }),
      'jwt_claims',
    ],
    ['with another access token', (claims, key) => key.sign({ ...claims, at_hash: 'x' }), 'jwt_access_token'],
    ['that nobody signed', (claims) => unsigned(claims), 'jwt_algorithm'],
    [
      'signed by our secret',
      (claims, { kid }) => signedBySecret(claims, upstreamClient.clientSecret, { kid }),
      'jwt_algorithm',
    ],
    [
      'signed by the public key as a secret',
      (claims, key) => signedBySecret(claims, JSON.stringify(key.publicJwk), { kid: key.kid }),
      'jwt_algorithm',
    ],
    [
      'with critical headers we do not know',
      (claims, key) => key.sign(claims, { crit: ['b64'], b64: true }),
      'jwt_algorithm',
    ],
    [
      'signed by another key under the same name',
      async (claims, { kid }) => (await createUpstreamKey()).sign(claims, { kid }),
      'jwt_signature',
    ],
    [
      'signed by a key that is not published',
      async (claims) => (await createUpstreamKey()).sign(claims),
      'jwt_key',
    ],
    [
      'with its claims changed',
      async (claims, key) => {
        const [header, , signature] = (await key.sign(claims)).split('.');
        const changed = Buffer.from(JSON.stringify({ ...claims, sub: omar.sub })).toString('base64url');
        return `${header}.${changed}.${signature}`;
      },
      'jwt_signature',
    ],
    ['that is none', () => 'canary.of.nothing', 'jwt_malformed'],
    ['without end', () => `${'x'.repeat(40_000)}.y.z`, 'jwt_malformed'],
    [
      'about somebody else than the user info',
      (claims, key) => key.sign({ ...claims, sub: omar.sub }),
      'user_info_subject',
    ],
  ])('%s logs nobody in (T-085)', async (_what, change, reason) => {
    at.work.alterIdTokens(change);
    await at.expectRefused(logIn(await at.client()), reason);
  });

  it('that is missing logs nobody in (T-085)', async () => {
    at.work.alter('/token', ({ id_token: _gone, ...rest }) => rest);
    await at.expectRefused(logIn(await at.client()), 'jwt_missing');
  });

  it('for two clients that says it was issued to this one is taken', async () => {
    const { clientId } = upstreamClient;
    at.work.alterIdTokens((claims, key) =>
      key.sign({ ...claims, aud: [clientId, 'another'], azp: clientId }),
    );
    expect((await logIn(await at.client())).identity.subject).toBe(lin.sub);
  });
});

describe('the time of a login in an ID token', () => {
  const nowSeconds = 1_800_000_000;
  const context: JwtContext = {
    issuers: ['https://idp.example'],
    clientId: 'c',
    nowSeconds,
    nonce: 'n',
    loggedInSince: nowSeconds - 10,
  };
  const claims = {
    iss: 'https://idp.example',
    aud: 'c',
    sub: '1',
    nonce: 'n',
    iat: nowSeconds,
    exp: nowSeconds + 60,
  };
  const judge = (auth_time: unknown) =>
    findJwtFault(idTokenChecks, { header: { alg: 'RS256' }, claims: { ...claims, auth_time } }, context);

  it('that is in milliseconds or in the future is no young login (FA-15, T-215)', () => {
    expect(judge(nowSeconds)).toBeUndefined();
    expect(judge((nowSeconds - 86_400) * 1_000)).toBe('jwt_from_future');
    expect(judge(nowSeconds + 3_600)).toBe('jwt_from_future');
    expect(judge(String(nowSeconds))).toBe('jwt_claims');
  });
});

describe('a logout token', () => {
  it('whose type is a list is none (FA-15, T-215)', () => {
    const nowSeconds = 1_800_000_000;
    const context = { issuers: ['https://idp.example'], clientId: 'c', nowSeconds };
    const claims = {
      iss: 'https://idp.example',
      aud: 'c',
      sub: '1',
      jti: 'j',
      iat: nowSeconds,
      exp: nowSeconds + 60,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    const judge = (typ: unknown) =>
      findJwtFault(logoutTokenChecks, { header: { alg: 'RS256', typ }, claims }, context);
    expect([judge(undefined), judge('JWT'), judge('logout+jwt')]).toEqual([undefined, undefined, undefined]);
    expect([judge(['jwt']), judge(['logout+jwt']), judge(null)]).toEqual([
      'logout_token_type',
      'logout_token_type',
      'logout_token_type',
    ]);
  });

  it('names who was logged out, and which login (T-091)', async () => {
    const upstream = await at.client();
    const token = await at.work.logoutToken({ sub: lin.sub, sid: 's-1', jti: 'j-1' });
    expect(await upstream.readLogoutToken(token)).toEqual({
      issuer: at.work.issuer,
      subject: lin.sub,
      sid: 's-1',
      jti: 'j-1',
      expiresAt: expect.any(Number),
    });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, UpstreamReason]>([
    ['that is an access token', {}, { typ: 'at+jwt' }, 'logout_token_type'],
    ['without the event', { events: {} }, {}, 'logout_token_type'],
    ['without events', { events: undefined }, {}, 'logout_token_type'],
    ['with a nonce, as an ID token', { nonce: 'n' }, {}, 'logout_token_nonce'],
    ['about nobody', { sub: undefined, sid: undefined }, {}, 'jwt_claims'],
    ['that could be used again', { jti: undefined }, {}, 'jwt_claims'],
    ['for another client', { aud: 'another' }, {}, 'jwt_audience'],
    ['of another issuer', { iss: 'https://evil.example' }, {}, 'jwt_issuer'],
    ['that has expired', { exp: secondsNow() - 120 }, {}, 'jwt_expired'],
    ['without an end', { exp: undefined }, {}, 'jwt_claims'],
  ])('%s is refused (T-091)', async (_what, claims, header, reason) => {
    const token = await at.work.logoutToken({ sub: lin.sub, ...claims }, header);
    await at.expectRefused((await at.client()).readLogoutToken(token), reason);
  });

  it('that somebody else signed, or nobody, is refused (T-091)', async () => {
    const upstream = await at.client();
    const [, payload = ''] = (await at.work.logoutToken({ sub: lin.sub })).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    await at.expectRefused(upstream.readLogoutToken(unsigned(claims)), 'jwt_algorithm');
    const stranger = await createUpstreamKey();
    await at.expectRefused(upstream.readLogoutToken(await stranger.sign(claims)), 'jwt_key');
  });
});

describe('an ID token of a login that was to be new (T-089)', () => {
  const again = { wishes: { prompt: 'login', maxAgeSeconds: 0 } } as const;

  it('is accepted where it says that it is', async () => {
    expect((await logIn(await at.client(), again)).identity.subject).toBe(lin.sub);
  });

  it.each<[string, unknown, UpstreamReason]>([
    ['an old one', secondsNow() - hour, 'jwt_auth_time'],
    ['no time at all', undefined, 'jwt_auth_time_missing'],
    ['a time in words', 'now', 'jwt_claims'],
  ])('is refused with %s', async (_what, time, reason) => {
    at.work.alterIdTokens((claims, key) => key.sign({ ...claims, auth_time: time }));
    expect(await faultOf(logIn(await at.client(), again))).toMatchObject({ kind: 'refused', reason });
  });

  it('may lack the time where the preset says so, but not be of an old one', async () => {
    const client = () => upstreamFor(at.work.settings({ preset: 'entra' }));
    at.work.alterIdTokens((claims, key) => key.sign({ ...claims, auth_time: undefined }));
    expect((await logIn(await client(), again)).identity.subject).toBe(lin.sub);
    at.work.alterIdTokens((claims, key) => key.sign({ ...claims, auth_time: secondsNow() - hour }));
    expect(await faultOf(logIn(await client(), again))).toMatchObject({ reason: 'jwt_auth_time' });
  });
});
