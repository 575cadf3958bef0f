import type { UpstreamPreset } from './preset.ts';

/**
 * GitHub, OAuth apps: plain OAuth 2.0, tokens without end and without refresh, errors with status 200, addresses in a list
 * of their own, a way of its own to revoke one token. (`…/grant` in place of `…/token` ends all tokens of the app for the
 * person, those of other installations with the same app too.) GitHub apps give refresh tokens as well, which are used.
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
export const github: UpstreamPreset = {
  label: 'GitHub',
  defaults: {
    authorizationEndpoint: 'https://github.com/login/oauth/authorize',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    userInfoEndpoint: 'https://api.github.com/user',
    revocationEndpoint: 'https://api.github.com/applications/{client_id}/token',
    userInfo: { subject: 'id', email: 'email', name: 'name' },
    scopes: ['read:user', 'user:email'],
  },
  prompts: { login: 'select_account', consent: 'select_account' },
  clientAuthentication: 'client_secret_post',
  tokenErrors: {
    bad_verification_code: 'invalid_grant',
    bad_refresh_token: 'invalid_grant',
    incorrect_client_credentials: 'invalid_client',
  },
  emailsPath: 'emails',
  revocation: 'delete_with_json',
};
