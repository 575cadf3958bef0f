import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOfClaims } from '../../../src/upstream/identity.ts';
import { google } from '../../../src/upstream/presets/google.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import { type GoogleLikeUpstream, startGoogleLikeUpstream } from '../../support/upstreams/google-like.ts';
import { lin } from '../../support/upstreams/people.ts';
import { claimsOf } from '../../support/upstreams/signing.ts';
import { faultOf, logIn, publicUrl, upstreamFor } from '../subject.ts';

let goo: GoogleLikeUpstream;
beforeAll(async () => {
  goo = await startGoogleLikeUpstream();
  goo.allow(`${publicUrl}/upstream/work/callback`);
});
afterAll(() => goo.stop());

describe('Google', () => {
  it('gives a refresh token at each login that holds none, and shows no consent page to others (A10-01)', async () => {
    const upstream = await upstreamFor(goo.settings());
    const walker = createWalker();
    const first = await logIn(upstream, { walker });
    expect(first.tokens.refreshToken).toMatch(/^1\/\//);
    const again = await logIn(upstream, { walker, wishes: { holdsRefreshToken: true } });
    expect(again.tokens.refreshToken).toBeUndefined();
    const lost = await logIn(upstream, { walker });
    expect(lost.tokens.refreshToken).toMatch(/^1\/\//);
    expect(walker.pages).toEqual(['Sign in at Goo', 'Consent at Goo', 'Consent at Goo']);
  });

  it('keeps the refresh token, and takes it back (T-090)', async () => {
    const upstream = await upstreamFor(goo.settings());
    const { tokens } = await logIn(upstream);
    const renewed = await upstream.refresh(tokens);
    expect(renewed.refreshToken).toBe(tokens.refreshToken);
    await upstream.revoke(renewed);
    await upstream.revoke(renewed);
    expect(goo.revoked).toEqual([tokens.refreshToken]);
    expect((await faultOf(upstream.refresh(renewed))).kind).toBe('ended');
  });

  it('is taken under either spelling of its issuer in tokens, as one', async () => {
    expect(google.issuerAliases).toEqual(['accounts.google.com']);
    goo.alter('/token', async (body) => ({
      ...body,
      id_token: await goo.sign({ ...claimsOf(String(body.id_token)), iss: 'accounts.google.com' }),
    }));
    const { identity } = await logIn(await upstreamFor(goo.settings()));
    expect(identity).toMatchObject({ issuer: goo.issuer, subject: lin.sub, email: lin.email });
    expect(identity.claims.hd).toBe('work.example');
  });

  it('vouches for addresses of its own and of its organizations, for no other that was verified once (T-089)', () => {
    const emailOf = (claims: object) =>
      identityOfClaims(goo.issuer, { sub: '1', ...claims }, {}, google).email;
    const verified = { email_verified: true };
    expect(emailOf({ ...verified, email: 'lin@gmail.com' })).toBe('lin@gmail.com');
    expect(emailOf({ ...verified, email: 'lin@work.example', hd: 'work.example' })).toBe('lin@work.example');
    for (const claims of [
      { ...verified, email: 'lin@work.example' },
      { ...verified, email: 'lin@gmail.com.evil.example' },
      { email: 'lin@work.example', hd: 'work.example', email_verified: false },
    ])
      expect(emailOf(claims)).toBeUndefined();
  });

  it('has endpoints below googleapis.com', () => {
    expect(google.endpointHosts).toEqual(['.googleapis.com']);
    expect(google.defaults.authorizationParameters).toEqual({ access_type: 'offline' });
  });
});
