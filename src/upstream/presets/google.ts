import type { UpstreamPreset } from './preset.ts';

/**
 * Google. A refresh token comes only with `access_type=offline` and only with its consent page; it stays the same for
 * good. `hd` is the organization of an account.
 * @see https://developers.google.com/identity/protocols/oauth2/web-server
 */
export const google: UpstreamPreset = {
  label: 'Google',
  defaults: {
    issuer: 'https://accounts.google.com',
    scopes: ['openid', 'profile', 'email'],
    authorizationParameters: { access_type: 'offline' },
  },
  endpointHosts: ['.googleapis.com'],
  issuerAliases: ['accounts.google.com'],
  consentForRefreshToken: true,
  prompts: { login: 'select_account' },
};
