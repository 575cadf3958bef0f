import { describe, expect, it } from 'vitest';
import { buildAuthorizationUrl } from '../../src/upstream/authorization.ts';
import { google, type UpstreamPreset } from '../../src/upstream/presets.ts';
import type { AuthorizationWishes } from '../../src/upstream/upstream.ts';
import type { UpstreamFaultKind, UpstreamReason } from '../../src/upstream/upstream-fault.ts';
import { createWalker } from '../support/upstreams/browse.ts';
import { lin, omar } from '../support/upstreams/people.ts';
import { logIn, useWork } from './subject.ts';

const metadata = {
  issuer: 'https://idp.example',
  authorization_endpoint: 'https://idp.example/authorize?tenant=a',
  token_endpoint: 'https://idp.example/token',
  jwks_uri: 'https://idp.example/keys',
  published: {},
};
const settings = {
  clientId: 'c',
  scopes: ['openid'],
  authorizationParameters: { access_type: 'offline' },
  apiHosts: [],
  allowPrivateNetwork: false,
  login: true,
  domains: [],
  resources: [],
  accounts: { create: false, linkByVerifiedEmail: [] },
  checkSeconds: 1,
  graceSeconds: 1,
  unverifiableSeconds: 1,
};

async function build(preset: UpstreamPreset, wishes: AuthorizationWishes = {}, over = {}) {
  const callbackUrl = 'https://mcp.example/upstream/a/callback';
  const built = await buildAuthorizationUrl({
    settings,
    preset,
    metadata,
    callbackUrl,
    wishes,
    nowSeconds: 1000,
    ...over,
  });
  return { ...built, asked: new URL(built.url).searchParams };
}

describe('an authorization request to an upstream', () => {
  it('keeps the query of the endpoint, and has a nonce where an ID token comes back', async () => {
    const { asked, pending } = await build({ label: 'A', defaults: {} });
    expect(asked.get('tenant')).toBe('a');
    expect(asked.get('nonce')).toBe(pending.nonce);
    const plain = await build({ label: 'A', defaults: {} }, {}, { settings: { ...settings, scopes: [] } });
    expect([plain.asked.has('nonce'), plain.asked.has('scope'), 'nonce' in plain.pending]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('asks for a login that is young enough only where an ID token can say when it was', async () => {
    const wishes = { maxAgeSeconds: 90 };
    const { asked, pending } = await build({ label: 'A', defaults: {} }, wishes);
    expect([asked.get('max_age'), pending.loggedInSince]).toEqual(['90', 910]);
    const plain = await build({ label: 'A', defaults: {} }, wishes, {
      settings: { ...settings, scopes: [] },
    });
    expect([plain.asked.get('max_age'), plain.pending.loggedInSince]).toEqual([null, undefined]);
  });

  it.each<[AuthorizationWishes, string | null]>([
    [{}, 'consent'],
    [{ holdsRefreshToken: true }, null],
    [{ prompt: 'login' }, 'select_account consent'],
    [{ prompt: 'login', holdsRefreshToken: true }, 'select_account'],
    [{ prompt: 'none' }, 'none'],
  ])(
    'to Google, with %j, has the prompt %s: its consent page only where no refresh token is held',
    async (wishes, prompt) => {
      expect((await build(google, wishes)).asked.get('prompt')).toBe(prompt);
    },
  );
});

describe('callback', () => {
  const at = useWork();

  describe('a callback', () => {
    it.each<[string, (url: URL) => void, UpstreamReason]>([
      [
        'with another iss (T-087)',
        (url) => url.searchParams.set('iss', 'https://evil.example'),
        'callback_issuer',
      ],
      [
        'without the iss its metadata promises (T-087)',
        (url) => url.searchParams.delete('iss'),
        'callback_issuer_missing',
      ],
      ['with another state (T-080)', (url) => url.searchParams.set('state', 'x'), 'callback_state'],
      ['without a state (T-080)', (url) => url.searchParams.delete('state'), 'callback_state'],
      ['with two states', (url) => url.searchParams.append('state', 'x'), 'callback_malformed'],
      ['with two codes', (url) => url.searchParams.append('code', 'x'), 'callback_malformed'],
      ['without code and error', (url) => url.searchParams.delete('code'), 'callback_malformed'],
    ])('%s is refused before any token is asked for', async (_what, change, reason) => {
      const before = at.work.count('/token');
      const doing = logIn(await at.client(), {
        callback(url) {
          change(url);
          return url.searchParams;
        },
      });
      await at.expectRefused(doing, reason);
      expect(at.work.count('/token')).toBe(before);
    });

    it.each<[string, UpstreamReason, UpstreamFaultKind]>([
      ['access_denied', 'denied', 'refused'],
      ['temporarily_unavailable', 'server_error', 'unavailable'],
      ['server_error', 'server_error', 'unavailable'],
      ['invalid_scope', 'callback_error', 'refused'],
      ['<script>alert(1)</script>', 'callback_error', 'refused'],
    ])(
      'with the error %s is what it says, and no text of it goes on (T-084)',
      async (error, reason, kind) => {
        const upstream = await at.client();
        const { pending } = await upstream.begin();
        const callback = new URLSearchParams({
          error,
          error_description: 'canary <script>',
          state: pending.state,
          iss: at.work.issuer,
        });
        await at.expectRefused(upstream.complete(callback, pending), reason, kind);
      },
    );

    it('of somebody who says no there is a denial (T-084)', async () => {
      const upstream = await at.client();
      const { url, pending } = await upstream.begin({ prompt: 'consent' });
      const back = await createWalker()
        .walk(url, omar, 'deny')
        .catch((error) => error);
      // The login page has no button to say no: the consent page behind it has.
      await at.expectRefused(upstream.complete(back.searchParams, pending), 'denied');
    });

    it('with the code of another login is refused: it has another verifier (T-083)', async () => {
      const upstream = await at.client();
      const mine = await upstream.begin();
      const theirs = await upstream.begin();
      const back = await createWalker().walk(theirs.url, omar);
      back.searchParams.set('state', mine.pending.state);
      await at.expectRefused(upstream.complete(back.searchParams, mine.pending), 'grant_refused');
    });

    it('that comes twice is refused: the code was used', async () => {
      const upstream = await at.client();
      const { url, pending } = await upstream.begin();
      const { searchParams } = await createWalker().walk(url, lin);
      await upstream.complete(searchParams, pending);
      await at.expectRefused(upstream.complete(searchParams, pending), 'grant_refused');
    });
  });
});
