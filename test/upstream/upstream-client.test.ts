import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuthorizationWishes } from '../../src/upstream/upstream.ts';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { faults } from '../support/upstreams/front.ts';
import { apiPath } from '../support/upstreams/open-id.ts';
import { lin, mallory, omar, type UpstreamPerson, upstreamClient } from '../support/upstreams/people.ts';
import { faultOf, logIn, metadataPath, publicUrl, secondsNow, upstreamFor, useWork } from './subject.ts';

const at = useWork();

const hour = 3_600;

describe('an upstream that is as it should be', () => {
  it('says who somebody is, and gives tokens (A10-01)', async () => {
    const { identity, tokens, sid } = await logIn(await at.client());
    expect(identity).toEqual({
      issuer: at.work.issuer,
      subject: lin.sub,
      email: lin.email,
      name: lin.name,
      claims: { name: lin.name, email: lin.email, email_verified: true },
    });
    expect(tokens).toMatchObject({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      scopes: ['openid', 'profile', 'email'],
    });
    expect(Math.abs((tokens.expiresAt ?? 0) - secondsNow() - hour)).toBeLessThan(5);
    expect(at.work.sidsOf(lin.sub)).toContain(sid);
  });
});

describe('a login that begins', () => {
  it('asks with state, nonce and PKCE of its own, and of this callback alone (T-083, T-087)', async () => {
    const upstream = await at.client();
    const [one, other] = await Promise.all([upstream.begin(), upstream.begin()]);
    const { searchParams } = new URL(one.url);
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: upstreamClient.clientId,
      response_type: 'code',
      redirect_uri: `${publicUrl}/upstream/work/callback`,
      scope: 'openid profile email',
      state: one.pending.state,
      nonce: one.pending.nonce,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    for (const part of ['state', 'nonce', 'codeVerifier'] as const) {
      expect(one.pending[part]).toMatch(/^[\w-]{43}$/);
      expect(one.pending[part]).not.toBe(other.pending[part]);
    }
    expect(one.url).not.toContain(one.pending.codeVerifier);
    expect(JSON.parse(JSON.stringify(one.pending))).toEqual(one.pending);
  });

  it('may ask for more, name the person, the languages and the page it wants', async () => {
    const upstream = await upstreamFor(
      at.work.settings({ authorizationParameters: { prompt: 'select_account', domain: 'work.example' } }),
    );
    const begin = async (wishes: AuthorizationWishes) =>
      Object.fromEntries(new URL((await upstream.begin(wishes)).url).searchParams);
    const wishes = { scopes: ['files:read', 'email'], loginHint: lin.email, uiLocales: 'zh-CN en' };
    expect(await begin(wishes)).toMatchObject({
      scope: 'openid profile email files:read',
      login_hint: lin.email,
      ui_locales: 'zh-CN en',
      prompt: 'select_account',
      domain: 'work.example',
    });
    expect(await begin({ prompt: 'login' })).toMatchObject({ prompt: 'login' });
  });

  it('is of one person each, however many there are at once (T-092)', async () => {
    const upstream = await at.client();
    const people = [lin, omar, mallory];
    const logins = Array.from({ length: 18 }, async (_, index) => {
      const person = people[index % people.length] as UpstreamPerson;
      const { identity, tokens } = await logIn(upstream, { person });
      const me = await fetch(`${at.work.url}${apiPath}`, {
        headers: { authorization: `Bearer ${tokens.accessToken}` },
      });
      expect([identity.subject, ((await me.json()) as { sub: string }).sub]).toEqual([
        person.sub,
        person.sub,
      ]);
    });
    await Promise.all(logins);
  });
});

describe('tokens of an upstream', () => {
  it('are renewed, and the refresh token stays where no other comes (T-090)', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    const renewed = await upstream.refresh(tokens);
    expect(renewed.accessToken).not.toBe(tokens.accessToken);
    expect(renewed.refreshToken).not.toBe(tokens.refreshToken);
    at.work.state.rotateRefreshTokens = false;
    onTestFinished(() => {
      at.work.state.rotateRefreshTokens = true;
    });
    at.work.alter('/token', ({ refresh_token: _none, ...rest }) => rest);
    expect((await upstream.refresh(renewed)).refreshToken).toBe(renewed.refreshToken);
  });

  it.each<[string, () => void, UpstreamReason, UpstreamFaultKind]>([
    ['says invalid_grant', () => at.work.revokeTokensOf(lin.sub), 'grant_refused', 'ended'],
    [
      'does not know our secret any more',
      () => at.work.fault('/token', faults.json(401, { error: 'invalid_client' })),
      'client_refused',
      'unavailable',
    ],
    ['fails', () => at.work.fault('/token', faults.page(503)), 'server_error', 'unavailable'],
    ['sends a page', () => at.work.fault('/token', faults.page(400)), 'token_no_object', 'unavailable'],
    [
      'sends a page with 200',
      () => at.work.fault('/token', faults.page(200)),
      'token_no_object',
      'unavailable',
    ],
    [
      'is busy (FA-29)',
      () => at.work.fault('/token', faults.json(400, { error: 'slow_down' })),
      'server_error',
      'unavailable',
    ],
    [
      'wants the person (FA-29)',
      () => at.work.fault('/token', faults.json(400, { error: 'interaction_required' })),
      'person_required',
      'ended',
    ],
    [
      'wants a login there (FA-29)',
      () => at.work.fault('/token', faults.json(400, { error: 'login_required' })),
      'person_required',
      'ended',
    ],
    [
      'has an error of its own (FA-29)',
      () => at.work.fault('/token', faults.json(400, { error: 'canary' })),
      'token_error',
      'ended',
    ],
    [
      'gives tokens in a shape of its own (FA-29)',
      () => at.work.fault('/token', faults.json(200, { tokens: [{ value: 'canary' }] })),
      'token_malformed',
      'ended',
    ],
    ['is silent', () => at.work.fault('/token', faults.silent()), 'timed_out', 'unavailable'],
  ])('are dead only where the upstream says so: it %s (T-090)', async (_what, arrange, reason, kind) => {
    const upstream = await at.clientToSee(reason);
    const { tokens } = await logIn(upstream);
    arrange();
    await at.expectRefused(upstream.refresh(tokens), reason, kind);
  });

  it('that come without an access token leave the refresh token to be kept, which no log shows (FA-25)', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    at.work.alter('/token', ({ access_token: _gone, ...rest }) => ({
      ...rest,
      refresh_token: 'canary-token',
    }));
    const fault = await faultOf(upstream.refresh(tokens));
    expect(fault).toMatchObject({ kind: 'ended', reason: 'token_malformed', successor: 'canary-token' });
    expect(inspect(fault, { depth: 5, showHidden: true })).not.toContain('canary-token');
  });

  it('without a refresh token are not renewed: that is a mistake of the caller', async () => {
    const tokens = { accessToken: 'a', scopes: [] };
    await expect((await at.client()).refresh(tokens)).rejects.toThrow(TypeError);
  });

  it('are looked at by the user info; 401 there, and nothing else, means that they are dead (T-090)', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    expect(await upstream.check(tokens)).toBe(true);
    for (const status of [403, 500, 503]) {
      at.work.fault('/me', faults.page(status));
      expect((await faultOf(upstream.check(tokens))).kind).toBe('unavailable');
    }
    at.work.behave();
    at.work.revokeTokensOf(lin.sub);
    await at.expectRefused(upstream.check(tokens), 'user_info_refused', 'ended');
  });

  it('are not looked at where there is nothing to ask', async () => {
    at.work.alter(metadataPath, ({ userinfo_endpoint: _none, ...rest }) => rest);
    expect(await (await at.client()).check({ accessToken: 'a', scopes: [] })).toBe(false);
  });

  it('survive a restart of the upstream (T-090)', async () => {
    const upstream = await at.client();
    const { tokens } = await logIn(upstream);
    await at.work.down();
    await at.expectRefused(upstream.refresh(tokens), 'unreachable', 'unavailable');
    await at.work.up();
    expect((await upstream.refresh(tokens)).accessToken).toEqual(expect.any(String));
  });
});

describe('what is known of an upstream', () => {
  it('is shown as it is published, read anew', async () => {
    const upstream = await at.client();
    await upstream.begin();
    at.work.alter(metadataPath, (body) => ({ ...body, op_policy_uri: 'https://idp.example/policy' }));
    expect(await upstream.readMetadata()).toMatchObject({ op_policy_uri: 'https://idp.example/policy' });
    expect(await upstream.readKeys()).toMatchObject({ keys: [{ kty: 'RSA' }] });
    expect(await upstream.clientAuthentication()).toBe('client_secret_basic');
    at.work.fault('/jwks', faults.notJson());
    await at.expectRefused(upstream.readKeys(), 'keys_malformed');
  });
});
