import { describe, expect, it } from 'vitest';
import { buildAuthorizationUrl } from '../../src/upstream/authorization-url.ts';
import { google } from '../../src/upstream/presets/google.ts';
import type { UpstreamPreset } from '../../src/upstream/presets/preset.ts';
import type { AuthorizationWishes } from '../../src/upstream/upstream.ts';

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
