import type { UpstreamPreset } from './preset.ts';

/**
 * Okta: standard. Its refresh tokens need `offline_access`, its groups the scope or claim `groups` of the authorization
 * server in the issuer.
 * @see https://developer.okta.com/docs/reference/api/oidc/
 */
export const okta: UpstreamPreset = {
  label: 'Okta',
  defaults: { scopes: ['openid', 'profile', 'email', 'offline_access'] },
};
