import { asText, type JsonObject } from '../oauth/foreign-json.ts';
import { isEmailVerified, knownProviders } from '../oauth/issuer.ts';
import type { Prompt, UpstreamPresetName, UpstreamSettings } from './upstream.ts';

/** Standard meanings of an upstream's own error codes. */
export type TokenErrorMeaning = 'invalid_grant' | 'invalid_client' | 'temporarily_unavailable';

/** Settings of a preset, which the operator may override. */
export type PresetDefaults = Partial<
  Pick<
    UpstreamSettings,
    | 'issuer'
    | 'authorizationEndpoint'
    | 'tokenEndpoint'
    | 'userInfoEndpoint'
    | 'revocationEndpoint'
    | 'userInfo'
    | 'scopes'
    | 'authorizationParameters'
  >
>;

/** The differences of a product from the standards, mostly as data. */
export interface UpstreamPreset {
  /** The name that people see. */
  label: string;
  defaults: PresetDefaults;
  /** Hosts that its metadata may name besides that of its issuer; with a dot in front: all subdomains. */
  endpointHosts?: readonly string[];
  /** Further spellings of its issuer in tokens. */
  issuerAliases?: readonly string[];
  /**
   * Returns the issuer that a token has to have, if it differs from that of the metadata.
   * @param metadataIssuer `issuer` of the metadata
   * @param claims of the token, unverified
   */
  issuerOf?(metadataIssuer: string, claims: JsonObject): string | undefined;
  /** Returns the issuer of its metadata, if it differs from the configured one. */
  metadataIssuerOf?(issuer: string): string;
  /**
   * True if it issues a refresh token only after its consent page, which is then requested if no refresh
   * token is stored.
   */
  consentForRefreshToken?: boolean;
  /** Its own names of prompts. */
  prompts?: Readonly<Partial<Record<Prompt, Prompt>>>;
  /** True if its ID tokens may omit `auth_time` even after `max_age`; an existing one is checked. */
  mayLackAuthTime?: boolean;
  /** The client authentication method, if its metadata does not tell. */
  clientAuthentication?: 'client_secret_basic' | 'client_secret_post';
  /** Its own error codes at the token endpoint. */
  tokenErrors?: Readonly<Record<string, TokenErrorMeaning>>;
  /** Errors in responses of other endpoints with status 200 that mean that the token is dead. */
  deadTokenErrors?: readonly string[];
  /**
   * True if its access token is for APIs only, so that the user-info endpoint may reject it after a valid
   * login.
   */
  skipsUserInfo?: boolean;
  /** Checks if the address of the claims is verified, if that is not the claim `email_verified`. */
  isEmailVerified?(claims: JsonObject): boolean;
  /**
   * The path of the list of verified addresses below the user-info endpoint, if the user info contains none.
   */
  emailsPath?: string;
  /** The way to revoke tokens, if it is not RFC 7009. */
  revocation?: 'delete_with_json' | 'bearer';
  /** True if a revocation also ends all other tokens of the person. */
  revocationEndsAll?: boolean;
}

/** Addresses of Google itself. */
const ownAddress = /@(?:gmail|googlemail)\.com$/i;

/**
 * Google. A refresh token comes only with `access_type=offline` and only with its consent page; it stays the same for
 * good. `hd` is the organization of an account. Anybody may have an account with an address of elsewhere, verified once and
 * kept after the address has gone to somebody else: Google vouches for its own addresses and those of its organizations.
 * The revocation of one token ends everything that the user has granted to the client.
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

/** Tenants that represent several: tokens name the tenant that issued them. */
const sharedTenants = /\/(?:common|organizations|consumers)\/v2\.0$/;

/**
 * Microsoft Entra ID, v2.0 endpoints. The metadata of a shared tenant (`common`) has an issuer with `{tenantid}` in the
 * place of the tenant; `resource` is refused, so none is sent; `email` is what an administrator of any tenant wrote, and
 * verified only if the optional claim `xms_edov` says so. Groups that are too many for a token are left out of it
 * (`_claim_names`): a rule about groups then lets nobody in. Tokens are not revoked but end.
 * `auth_time` is an optional claim as well.
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/v2-protocols-oidc
 */
export const entra: UpstreamPreset = {
  label: 'Microsoft',
  defaults: { scopes: ['openid', 'profile', 'email', 'offline_access'] },
  endpointHosts: knownProviders.entra.endpointHosts,
  metadataIssuerOf: (issuer) => issuer.replace(sharedTenants, '/{tenantid}/v2.0'),
  issuerOf(metadataIssuer, { tid }) {
    if (!metadataIssuer.includes('{tenantid}')) return metadataIssuer;
    const tenant = asText(tid);
    return tenant !== undefined && /^[0-9a-f-]{36}$/.test(tenant)
      ? metadataIssuer.replace('{tenantid}', tenant)
      : undefined;
  },
  isEmailVerified: ({ xms_edov: verified }) => verified === true || verified === 1 || verified === '1',
  skipsUserInfo: true,
  mayLackAuthTime: true,
};

/**
 * Okta: standard. Its refresh tokens need `offline_access`, its groups the scope or claim `groups` of the authorization
 * server in the issuer.
 * @see https://developer.okta.com/docs/reference/api/oidc/
 */
export const okta: UpstreamPreset = {
  label: 'Okta',
  defaults: { scopes: ['openid', 'profile', 'email', 'offline_access'] },
};

/**
 * Keycloak: standard. Without `offline_access`, so that a refresh token ends with the login at Keycloak; back-channel
 * logout with `sid` is switched on at its client.
 * @see https://www.keycloak.org/docs/latest/server_admin/#_oidc
 */
export const keycloak: UpstreamPreset = {
  label: 'Keycloak',
  defaults: { scopes: ['openid', 'profile', 'email'] },
};

/**
 * GitLab, of gitlab.com unless an issuer is set. Refresh tokens come without being asked for and are used once; all groups
 * of a person (`groups`) stand in the user info alone, the ID token has `groups_direct`.
 * @see https://docs.gitlab.com/integration/openid_connect_provider/
 */
export const gitlab: UpstreamPreset = {
  label: 'GitLab',
  defaults: { issuer: 'https://gitlab.com', scopes: ['openid', 'profile', 'email'] },
};

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

const presets: Readonly<Record<UpstreamPresetName, UpstreamPreset>> = {
  google,
  github,
  entra,
  okta,
  keycloak,
  gitlab,
  slack,
};

/** Scopes for an OpenID provider without a preset. */
const openIdScopes = ['openid', 'profile', 'email'];

/**
 * Returns the preset of an upstream, and its settings completed by the preset. A configured issuer replaces
 * all endpoints of the preset.
 */
export function withPreset(
  name: string,
  settings: UpstreamSettings,
): { preset: UpstreamPreset; settings: UpstreamSettings } {
  const scopesOfStandard = settings.issuer === undefined ? [] : openIdScopes;
  const preset =
    settings.preset === undefined
      ? { label: name, defaults: { scopes: scopesOfStandard } }
      : presets[settings.preset];
  const { scopes, authorizationParameters, ...addresses } = preset.defaults;
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return {
    preset,
    settings: {
      ...(settings.issuer === undefined ? addresses : {}),
      scopes,
      ...(given as unknown as UpstreamSettings),
      authorizationParameters: { ...authorizationParameters, ...settings.authorizationParameters },
    },
  };
}
