import type { UpstreamPreset } from './preset.ts';

/**
 * GitLab, of gitlab.com unless an issuer is set. Refresh tokens come without being asked for and are used once; all groups
 * of a person (`groups`) stand in the user info alone, the ID token has `groups_direct`.
 * @see https://docs.gitlab.com/integration/openid_connect_provider/
 */
export const gitlab: UpstreamPreset = {
  label: 'GitLab',
  defaults: { issuer: 'https://gitlab.com', scopes: ['openid', 'profile', 'email'] },
};
