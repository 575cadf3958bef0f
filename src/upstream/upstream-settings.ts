/** Deviations from the standards that are known by name. */
export type UpstreamPresetName = 'google' | 'github' | 'entra' | 'okta' | 'keycloak' | 'gitlab' | 'slack';

/** Where in a user-info answer the parts of an identity stand: names of members, with dots for what is deeper. */
export interface UserInfoMapping {
  subject: string;
  email?: string | undefined;
  /** A member that is `true` or `"true"` if the address is verified; without one no address counts as verified. */
  emailVerified?: string | undefined;
  name?: string | undefined;
  groups?: string | undefined;
}

/** Who may come in by an upstream, and as whom. */
export interface AdmissionRules {
  /** Whether somebody who has no account here gets one. */
  create: boolean;
  /** Domains for which the upstream is believed: who has a verified address there is the account of that address. */
  linkByVerifiedEmail: readonly string[];
  /** What somebody has to have, all of it; everybody may come in where absent. */
  allow?:
    | {
        /** Domains of verified e-mail addresses. */
        domains?: readonly string[] | undefined;
        /** Values of claims, by name; one of them is enough for each. */
        claims?: Readonly<Record<string, readonly string[]>> | undefined;
      }
    | undefined;
}

/** Scopes of ours that a claim of the upstream opens. */
export interface ClaimScopes {
  claim: string;
  value: string;
  scopes: readonly string[];
}

/** An upstream as the operator set it. */
export interface UpstreamSettings {
  preset?: UpstreamPresetName | undefined;
  /** What people call it. */
  label?: string | undefined;
  /** Its issuer identifier: what is not set is discovered there. */
  issuer?: string | undefined;
  authorizationEndpoint?: string | undefined;
  tokenEndpoint?: string | undefined;
  userInfoEndpoint?: string | undefined;
  revocationEndpoint?: string | undefined;
  userInfo?: UserInfoMapping | undefined;
  clientId: string;
  /** The secret, or the variable of our environment that has it. */
  clientSecret?: string | { env: string } | undefined;
  clientSecretFile?: string | undefined;
  /** A private key in PEM or as a JWK, for `private_key_jwt`. */
  clientKeyFile?: string | undefined;
  /** What is asked for at each login; what the preset says where absent. */
  scopes?: readonly string[] | undefined;
  /** Further parameters of the authorization request. */
  authorizationParameters: Readonly<Record<string, string>>;
  /** Hosts of the API that tools may call with the upstream's tokens. */
  apiHosts: readonly string[];
  /** Whether it may live at addresses that are not of the public internet. */
  allowPrivateNetwork: boolean;
  /** Whether the login page offers it; else it is only for linking. */
  login: boolean;
  /** Domains whose people are sent to it at once (`login_hint`). */
  domains: readonly string[];
  /** Resources of ours that want this upstream and no other login. */
  resources: readonly string[];
  accounts: AdmissionRules;
  /** What of our scopes its claims open; all of them where absent. */
  grantScopes?: readonly ClaimScopes[] | undefined;
  /** After how long its standing is looked at anew. */
  checkSeconds: number;
  /** How long what it said last counts while it cannot be reached. */
  graceSeconds: number;
  /** How long a login counts whose tokens ended and cannot be renewed or checked. */
  unverifiableSeconds: number;
}
