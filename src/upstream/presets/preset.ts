import type { JsonObject } from '../../oauth/foreign-json.ts';
import type { Prompt } from '../upstream.ts';
import type { UpstreamSettings } from '../upstream-settings.ts';

/** Standard meanings that an upstream has names of its own for. */
export type TokenErrorMeaning = 'invalid_grant' | 'invalid_client' | 'temporarily_unavailable';

/** Settings that a preset may fill in where the operator says nothing. */
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

/** Where a product differs from the standards. Data as far as possible. */
export interface UpstreamPreset {
  /** What people call it. */
  label: string;
  defaults: PresetDefaults;
  /** Hosts its metadata may name beside that of its issuer; with a dot in front: all below. */
  endpointHosts?: readonly string[];
  /** Further spellings of its issuer in tokens. */
  issuerAliases?: readonly string[];
  /**
   * The issuer a token has to have, where that is not the one in the metadata.
   * @param metadataIssuer `issuer` of the metadata
   * @param claims of the token, not yet to be believed
   */
  issuerOf?(metadataIssuer: string, claims: JsonObject): string | undefined;
  /** The issuer its metadata has, where that is not the one set. */
  metadataIssuerOf?(issuer: string): string;
  /** Its consent page has to be shown for a refresh token: it is asked for where none is held. */
  consentForRefreshToken?: boolean;
  /** What it calls prompts that it knows by another name. */
  prompts?: Readonly<Partial<Record<Prompt, Prompt>>>;
  /** Whether its ID tokens may lack `auth_time` though `max_age` was asked for; one that is there counts. */
  mayLackAuthTime?: boolean;
  /** How the client proves itself, where that cannot be seen in metadata. */
  clientAuthentication?: 'client_secret_basic' | 'client_secret_post';
  /** Its own names of errors at the token endpoint. */
  tokenErrors?: Readonly<Record<string, TokenErrorMeaning>>;
  /** Errors in answers with status 200 of other endpoints that mean that the token is dead. */
  deadTokenErrors?: readonly string[];
  /** Whether an access token is for APIs alone, so that asking it who somebody is may fail for a good login. */
  skipsUserInfo?: boolean;
  /** Says whether the address in claims was verified, where that is not the claim `email_verified`. */
  isEmailVerified?(claims: JsonObject): boolean;
  /** Where the verified addresses are listed, from the user-info endpoint, for one whose answer has none. */
  emailsPath?: string;
  /** How tokens are given back, where that is not RFC 7009. */
  revocation?: 'delete_with_json' | 'bearer';
  /** Whether giving tokens back ends all others of the person too. */
  revocationEndsAll?: boolean;
}
