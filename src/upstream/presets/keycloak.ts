import type { UpstreamPreset } from './preset.ts';

/**
 * Keycloak: standard. Without `offline_access`, so that a refresh token ends with the login at Keycloak; back-channel
 * logout with `sid` is switched on at its client.
 * @see https://www.keycloak.org/docs/latest/server_admin/#_oidc
 */
export const keycloak: UpstreamPreset = {
  label: 'Keycloak',
  defaults: { scopes: ['openid', 'profile', 'email'] },
};
