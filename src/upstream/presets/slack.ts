import type { UpstreamPreset } from './preset.ts';

/**
 * Sign in with Slack: OpenID Connect with answers in Slack's manner (`ok`, status 200 also for errors), tokens without end
 * unless the app has token rotation, and its own way to revoke. `https://slack.com/team_id` is the workspace.
 * @see https://docs.slack.dev/authentication/sign-in-with-slack/
 */
export const slack: UpstreamPreset = {
  label: 'Slack',
  defaults: {
    issuer: 'https://slack.com',
    revocationEndpoint: 'https://slack.com/api/auth.revoke',
    scopes: ['openid', 'profile', 'email'],
  },
  tokenErrors: {
    invalid_code: 'invalid_grant',
    code_already_used: 'invalid_grant',
    invalid_refresh_token: 'invalid_grant',
    token_revoked: 'invalid_grant',
    bad_client_secret: 'invalid_client',
    invalid_client_id: 'invalid_client',
    ratelimited: 'temporarily_unavailable',
    internal_error: 'temporarily_unavailable',
  },
  deadTokenErrors: ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive'],
  revocation: 'bearer',
  mayLackAuthTime: true,
};
