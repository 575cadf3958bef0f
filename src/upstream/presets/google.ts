import { asText } from '../../oauth/foreign-json.ts';
import { isEmailVerified, knownProviders } from '../../oauth/issuer.ts';
import type { UpstreamPreset } from './preset.ts';

/** Addresses that are of Google itself. */
const ownAddress = /@(?:gmail|googlemail)\.com$/i;

/**
 * Google. A refresh token comes only with `access_type=offline` and only with its consent page; it stays the same for
 * good. `hd` is the organization of an account. Anybody may have an account with an address of elsewhere, verified once and
 * kept after the address has gone to somebody else: Google vouches for its own addresses and those of its organizations.
 * What is given back ends all that the person has given the client.
 * @see https://developers.google.com/identity/gsi/web/guides/verify-google-id-token
 * @see https://developers.google.com/identity/protocols/oauth2/web-server
 */
export const google: UpstreamPreset = {
  label: 'Google',
  defaults: {
    issuer: 'https://accounts.google.com',
    scopes: ['openid', 'profile', 'email'],
    authorizationParameters: { access_type: 'offline' },
  },
  endpointHosts: knownProviders.google.endpointHosts,
  issuerAliases: ['accounts.google.com'],
  consentForRefreshToken: true,
  mayLackAuthTime: true,
  prompts: { login: 'select_account' },
  isEmailVerified: ({ email, email_verified: verified, hd }) =>
    isEmailVerified(verified) && (asText(hd) !== undefined || ownAddress.test(asText(email) ?? '')),
  revocationEndsAll: true,
};
