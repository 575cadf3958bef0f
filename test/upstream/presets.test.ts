import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { identityFromClaims } from '../../src/upstream/identity.ts';
import {
  entra,
  github,
  gitlab,
  google,
  keycloak,
  okta,
  slack,
  withPreset,
} from '../../src/upstream/presets.ts';
import type { Upstream, UpstreamSettings } from '../../src/upstream/upstream.ts';
import { createWalker } from '../support/upstreams/browse.ts';
import { faults } from '../support/upstreams/front.ts';
import { type GithubLikeUpstream, startGithubLikeUpstream } from '../support/upstreams/github-like.ts';
import { type GoogleLikeUpstream, startGoogleLikeUpstream } from '../support/upstreams/google-like.ts';
import { lin, mallory } from '../support/upstreams/people.ts';
import { claimsOf } from '../support/upstreams/signing.ts';
import { faultOf, logIn, metadataPath, publicUrl, upstreamFor, useWork } from './subject.ts';

const proof = { clientId: 'c', clientSecret: 's' };
const set = (given: object): UpstreamSettings =>
  parseSettings({ upstreams: { a: { ...proof, ...given } } } as object).upstreams.a as UpstreamSettings;

describe('a preset', () => {
  it('fills in what the operator left out', () => {
    const { settings, preset } = withPreset('a', set({ preset: 'github' }));
    expect(preset.label).toBe('GitHub');
    expect(settings).toMatchObject({
      tokenEndpoint: 'https://github.com/login/oauth/access_token',
      scopes: ['read:user', 'user:email'],
      userInfo: { subject: 'id' },
    });
  });

  it('stands behind what the operator set', () => {
    const given = { preset: 'google', scopes: ['openid'], authorizationParameters: { hd: 'work.example' } };
    expect(withPreset('a', set(given)).settings).toMatchObject({
      issuer: 'https://accounts.google.com',
      scopes: ['openid'],
      authorizationParameters: { access_type: 'offline', hd: 'work.example' },
    });
  });

  it('leaves another issuer its own endpoints', () => {
    const given = { preset: 'slack', issuer: 'https://slack-gov.com' };
    const { settings } = withPreset('a', set(given));
    expect([settings.issuer, settings.revocationEndpoint]).toEqual(['https://slack-gov.com', undefined]);
  });

  it('is none where none is named: the standard, under the name in the settings', () => {
    const openId = withPreset('work', set({ issuer: 'https://idp.example' }));
    expect([openId.preset.label, openId.settings.scopes]).toEqual(['work', ['openid', 'profile', 'email']]);
    const endpoints = {
      authorizationEndpoint: 'https://hub.example/authorize',
      tokenEndpoint: 'https://hub.example/token',
      userInfoEndpoint: 'https://hub.example/user',
      userInfo: { subject: 'id' },
    };
    expect(withPreset('hub', set(endpoints)).settings.scopes).toEqual([]);
  });
});

describe('google', () => {
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
        identityFromClaims(goo.issuer, { sub: '1', ...claims }, {}, google).email;
      const verified = { email_verified: true };
      expect(emailOf({ ...verified, email: 'lin@gmail.com' })).toBe('lin@gmail.com');
      expect(emailOf({ ...verified, email: 'lin@work.example', hd: 'work.example' })).toBe(
        'lin@work.example',
      );
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
});

describe('github', () => {
  let hub: GithubLikeUpstream;
  beforeAll(async () => {
    hub = await startGithubLikeUpstream();
    hub.allow(`${publicUrl}/upstream/work/callback`);
  });
  afterEach(() => hub.behave());
  afterAll(() => hub.stop());

  describe('GitHub', () => {
    it('says who somebody is by its API, with the address it verified; its tokens have no end (A10-01)', async () => {
      const { identity, tokens, sid } = await logIn(await upstreamFor(hub.settings()));
      expect(identity).toMatchObject({ issuer: hub.url, subject: lin.sub, email: lin.email, name: lin.name });
      expect(tokens).toEqual({
        accessToken: expect.stringMatching(/^gho_/),
        scopes: ['read:user', 'user:email'],
      });
      expect(sid).toBeUndefined();
    });

    it('gives no address that was not verified, nor one it does not show us (T-089)', async () => {
      const upstream = await upstreamFor(hub.settings());
      expect((await logIn(upstream, { person: mallory })).identity.email).toBeUndefined();
      const narrow = await upstreamFor(hub.settings({ scopes: ['read:user'] }));
      expect((await logIn(narrow)).identity).toMatchObject({ subject: lin.sub, name: lin.name });
      expect((await logIn(narrow)).identity.email).toBeUndefined();
    });

    it('sends errors with status 200, which are errors all the same (T-083, T-084)', async () => {
      const upstream = await upstreamFor(hub.settings());
      const mine = await upstream.begin();
      const theirs = await upstream.begin();
      const back = await createWalker().walk(theirs.url, lin);
      back.searchParams.set('state', mine.pending.state);
      expect((await faultOf(upstream.complete(back.searchParams, mine.pending))).reason).toBe(
        'grant_refused',
      );
      const stranger = await upstreamFor(hub.settings({ clientSecret: 'another' }));
      expect((await faultOf(logIn(stranger))).reason).toBe('client_refused');
      expect(github.tokenErrors?.bad_refresh_token).toBe('invalid_grant');
    });

    it('is asked whether a token still counts; a limit of its API says nothing about it (T-090)', async () => {
      const upstream = await upstreamFor(hub.settings());
      const { tokens } = await logIn(upstream);
      expect(await upstream.check(tokens)).toBe(true);
      hub.fault('/user', faults.json(403, { message: 'API rate limit exceeded' }));
      expect((await faultOf(upstream.check(tokens))).kind).toBe('unavailable');
      hub.behave();
      hub.revokeTokensOf(lin.sub);
      expect((await faultOf(upstream.check(tokens))).kind).toBe('ended');
    });

    it('takes one token back in its own way, and a dead one without complaint', async () => {
      const upstream = await upstreamFor(hub.settings());
      const [one, other] = [await logIn(upstream), await logIn(upstream)];
      await upstream.revoke(one.tokens);
      await upstream.revoke(one.tokens);
      expect(hub.revoked).toEqual([one.tokens.accessToken]);
      expect((await faultOf(upstream.check(one.tokens))).kind).toBe('ended');
      expect(await upstream.check(other.tokens)).toBe(true);
    });
  });
});

describe('entra', () => {
  const at = useWork();
  const tenant = '11111111-2222-3333-4444-555555555555';

  /** An upstream as Entra is for all tenants: its metadata has a placeholder where tokens have the tenant. */
  async function sharedTenant(): Promise<Upstream> {
    const published = (await (await fetch(`${at.work.url}${metadataPath}`)).json()) as object;
    const issuer = `${at.work.url}/{tenantid}/v2.0`;
    at.work.fault(`/common/v2.0${metadataPath}`, faults.json(200, { ...published, issuer }));
    return upstreamFor(at.work.settings({ preset: 'entra', issuer: `${at.work.url}/common/v2.0` }));
  }

  describe('Entra', () => {
    it('has the issuer of a tenant in its tokens, and a placeholder in the metadata of all', () => {
      const common = 'https://login.microsoftonline.com/common/v2.0';
      const template = 'https://login.microsoftonline.com/{tenantid}/v2.0';
      const own = `https://login.microsoftonline.com/${tenant}/v2.0`;
      expect(entra.metadataIssuerOf?.(common)).toBe(template);
      expect(entra.metadataIssuerOf?.(own)).toBe(own);
      expect(entra.issuerOf?.(template, { tid: tenant })).toBe(own);
      expect(entra.issuerOf?.(own, { tid: 'another' })).toBe(own);
      for (const tid of [undefined, '', '../x', 'evil.example/', 7])
        expect(entra.issuerOf?.(template, { tid })).toBeUndefined();
    });

    it('is not sent a resource, nor asked who somebody is: its access tokens are for APIs', async () => {
      const upstream = await upstreamFor(at.work.settings({ preset: 'entra' }));
      const { url } = await upstream.begin();
      expect(new URL(url).searchParams.has('resource')).toBe(false);
      const before = at.work.count('/me');
      const { identity } = await logIn(upstream);
      expect([identity.subject, at.work.count('/me')]).toEqual([lin.sub, before]);
      expect(await upstream.check({ accessToken: 'a', scopes: [] })).toBe(false);
    });

    it('of all tenants logs in people of each, by the issuer of their own (T-089)', async () => {
      const upstream = await sharedTenant();
      const iss = `${at.work.url}/${tenant}/v2.0`;
      at.work.alterIdTokens((claims, key) => key.sign({ ...claims, iss, tid: tenant }));
      const { identity } = await logIn(upstream);
      expect([identity.issuer, identity.subject, identity.claims.tid]).toEqual([iss, lin.sub, tenant]);
    });

    it.each<[string, (url: string) => Record<string, unknown>]>([
      [
        'of another tenant than it says',
        (url) => ({ iss: `${url}/${tenant.replace('1', '9')}/v2.0`, tid: tenant }),
      ],
      ['of no tenant', (url) => ({ iss: `${url}/{tenantid}/v2.0`, tid: undefined })],
      ['of a tenant that is a path', (url) => ({ iss: `${url}/../x/v2.0`, tid: '../x' })],
    ])('of all tenants takes no token %s (T-085)', async (_what, claimsOf) => {
      const upstream = await sharedTenant();
      at.work.alterIdTokens((claims, key) => key.sign({ ...claims, ...claimsOf(at.work.url) }));
      await at.expectRefused(logIn(upstream), 'jwt_issuer');
    });
  });
});

describe('okta', () => {
  const at = useWork();

  it('Okta follows the standard, and gives refresh tokens for offline_access (A10-01)', async () => {
    expect(okta.defaults.scopes).toContain('offline_access');
    const { identity, tokens } = await logIn(await upstreamFor(at.work.settings({ preset: 'okta' })));
    expect([identity.subject, identity.email]).toEqual([lin.sub, lin.email]);
    expect(tokens.refreshToken).toEqual(expect.any(String));
  });
});

describe('keycloak', () => {
  const at = useWork();

  it('Keycloak follows the standard; its refresh tokens end with the login there (A10-02)', async () => {
    expect(keycloak.defaults.scopes).not.toContain('offline_access');
    const { identity, sid } = await logIn(await upstreamFor(at.work.settings({ preset: 'keycloak' })));
    expect(identity.subject).toBe(lin.sub);
    expect(at.work.sidsOf(lin.sub)).toContain(sid);
  });
});

describe('gitlab', () => {
  const at = useWork();

  it('GitLab is gitlab.com unless an issuer is set; groups stand in its user info alone (A10-01)', async () => {
    expect(gitlab.defaults.issuer).toBe('https://gitlab.com');
    at.work.alter('/me', (body) => ({ ...body, groups: ['a/b'] }));
    const { identity } = await logIn(await upstreamFor(at.work.settings({ preset: 'gitlab' })));
    expect(identity).toMatchObject({ subject: lin.sub, claims: { groups: ['a/b'] } });
  });
});

describe('slack', () => {
  const at = useWork();
  /** Slack, in its manner, at the place of a provider that follows the standard. */
  const client = () =>
    upstreamFor(at.work.settings({ preset: 'slack', revocationEndpoint: `${at.work.url}/api/auth.revoke` }));

  describe('Slack', () => {
    it('says ok in all it sends', async () => {
      at.work.alter('/token', (body) => ({ ok: true, ...body }));
      at.work.alter('/me', (body) => ({ ok: true, ...body }));
      expect((await logIn(await client())).identity.subject).toBe(lin.sub);
      expect(slack.defaults.issuer).toBe('https://slack.com');
    });

    it.each([
      ['invalid_code', 'grant_refused', 'refused'],
      ['bad_client_secret', 'client_refused', 'refused'],
      ['ratelimited', 'server_error', 'unavailable'],
      ['canary', 'token_error', 'refused'],
    ])('says %s with status 200, which is %s (T-084)', async (error, reason, kind) => {
      at.work.fault('/token', faults.json(200, { ok: false, error }));
      const fault = await faultOf(logIn(await client()));
      expect([fault.reason, fault.kind]).toEqual([reason, kind]);
      expect(fault.message).not.toContain('canary');
    });

    it.each([
      ['token_revoked', 'ended'],
      ['account_inactive', 'ended'],
      ['fatal_error', 'unavailable'],
    ])('says %s of a token with status 200, which is %s (T-090)', async (error, kind) => {
      const upstream = await client();
      const { tokens } = await logIn(upstream);
      at.work.fault('/me', faults.json(200, { ok: false, error }));
      expect((await faultOf(upstream.check(tokens))).kind).toBe(kind);
    });

    it('takes tokens back in its own way', async () => {
      const upstream = await client();
      const { tokens } = await logIn(upstream);
      let bearer: string | undefined;
      at.work.fault('/api/auth.revoke', (request, response) => {
        bearer = request.headers.authorization;
        response.end('{"ok":true,"revoked":true}');
      });
      await upstream.revoke(tokens);
      expect(bearer).toBe(`Bearer ${tokens.accessToken}`);
      at.work.fault('/api/auth.revoke', faults.json(200, { ok: false, error: 'token_revoked' }));
      await upstream.revoke(tokens);
      at.work.fault('/api/auth.revoke', faults.json(200, { ok: false, error: 'fatal_error' }));
      expect((await faultOf(upstream.revoke(tokens))).reason).toBe('revocation_refused');
    });
  });
});
