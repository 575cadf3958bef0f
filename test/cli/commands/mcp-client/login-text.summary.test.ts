import { describe, expect, it } from 'vitest';
import {
  describeCredential,
  describeStore,
  summarizeLogin,
  ungrantedScopes,
} from '../../../../src/cli/commands/mcp-client/login-text.ts';
import type { DiscoveredServer } from '../../../../src/client/index.ts';
import { testCredential } from '../../../client/support/credentials.ts';

describe('a login as it is shown', () => {
  it('has no token, key or secret in it (T-191)', () => {
    const credential = testCredential({
      accessToken: 'very-secret',
      refreshToken: 'very-secret',
      dpopKey: { kty: 'EC', d: 'very-secret' },
      grant: { type: 'client_credentials', clientSecret: 'very-secret' },
    });
    const shown = describeCredential('https://mcp.example/mcp', credential);
    expect(JSON.stringify(shown)).not.toContain('very-secret');
    expect(shown).toMatchObject({ client: 'client', renewable: true, bound: true, scopes: ['read'] });
  });

  it('is renewable only with something to renew it with', () => {
    const credential = testCredential({ refreshToken: undefined, expiresAt: undefined, scopes: undefined });
    expect(describeCredential('https://x/', credential)).toMatchObject({
      renewable: false,
      expiresAt: null,
      scopes: null,
    });
  });
});

describe('scopes that were asked for', () => {
  it('are told where they were not granted (RFC 6749 section 3.3)', () => {
    expect(ungrantedScopes(['read', 'admin'], testCredential())).toEqual(['admin']);
    expect(ungrantedScopes(['read'], testCredential())).toEqual([]);
    expect(ungrantedScopes(['admin'], testCredential({ scopes: undefined }))).toEqual([]);
    expect(ungrantedScopes(undefined, testCredential())).toEqual([]);
  });

  it('are in the JSON of the login as well', () => {
    const found = { server: 'https://mcp.example/mcp' } as DiscoveredServer;
    expect(summarizeLogin(found, testCredential(), { path: '/h' }, ['admin'])).toMatchObject({
      scopes: ['read'],
      notGranted: ['admin'],
    });
  });
});

describe('where a login is kept (CL-13)', () => {
  it.each([
    [{ path: '/h/tokens.json' }, 'in plain text that only you can read'],
    [
      { path: '/h/tokens.json', whyPlain: 'secret-tool is not installed' },
      'in plain text that only you can read, because it cannot be sealed: secret-tool is not installed',
    ],
    [{ path: '/h/tokens.json', sealedWith: 'the keychain' }, 'sealed with a key in the keychain'],
  ])('%j', (state, text) => {
    expect(describeStore(state)).toBe(`The login is kept in /h/tokens.json, ${text}`);
  });
});
