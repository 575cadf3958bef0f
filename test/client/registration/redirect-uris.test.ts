import { describe, expect, it } from 'vitest';
import { isRedirectRefusal, redirectAllows } from '../../../src/client/registration/redirect-uris.ts';

describe('a registered redirect URI', () => {
  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1/callback', true],
    ['http://[::1]/callback', 'http://[::1]:1/callback', true],
    ['http://127.0.0.1:1/callback', 'http://127.0.0.1:1/callback', true],
    ['http://127.0.0.1:1/callback', 'http://127.0.0.1:2/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:1/other', false],
    ['http://127.0.0.1/callback', 'http://localhost:1/callback', false],
    ['https://x.example/cb', 'https://x.example:1/cb', false],
  ])('%s for %s: %s', (registered, wanted, allowed) => {
    expect(redirectAllows(registered, wanted)).toBe(allowed);
  });

  it.each([
    ['invalid_request', 'Unregistered redirect_uri', true],
    ['invalid_request', 'redirect URI is not valid', true],
    ['redirect_uri_mismatch', undefined, true],
    ['invalid_redirect_uri', undefined, true],
    ['invalid_request', 'scope is missing', false],
    ['access_denied', 'redirect_uri', false],
  ])('%s (%s) – about the redirect URI: %s (CL-3)', (error, description, expected) => {
    expect(isRedirectRefusal(error, description)).toBe(expected);
  });
});
