import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { github } from '../../../src/upstream/presets/github.ts';
import { createWalker } from '../../support/upstreams/browse.ts';
import { faults } from '../../support/upstreams/front.ts';
import { type GithubLikeUpstream, startGithubLikeUpstream } from '../../support/upstreams/github-like.ts';
import { lin, mallory } from '../../support/upstreams/people.ts';
import { faultOf, logIn, publicUrl, upstreamFor } from '../subject.ts';

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
    expect((await faultOf(upstream.complete(back.searchParams, mine.pending))).reason).toBe('grant_refused');
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
