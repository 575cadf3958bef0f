import type { ToleranceName } from '../tolerances.ts';

/** Source of a statement about a client: a recording, its source code or documentation, a report, or our own inference. */
export type Grounds = 'recording' | 'source' | 'documentation' | 'report' | 'inferred';

/** A known behaviour of a client. */
export interface ProfileFact {
  says: string;
  grounds: Grounds;
  /** URL of the source. */
  from: string;
}

/** Places of protected resource metadata. */
export type ResourcePlaceName = 'by the challenge' | 'with the path' | 'at the root';

/** Spelling of the published `resource` in a client's requests. */
export type ResourceSpelling = 'published' | 'slash' | 'origin';

/**
 * Condition for a new registration: `invalid_client` of the token endpoint, the same in JSON by the authorization
 * endpoint before a browser is opened, removal of the login by the user, or each login.
 */
export type RegistersAgain = 'on_invalid_client' | 'after_preflight' | 'by_hand' | 'each_time';

/** The behaviour of a client, as data. Unknown behaviour is that of its SDK, marked as inferred. */
export interface ClientProfile {
  /** Name for `--as`. */
  name: string;
  title: string;
  /** Date of the last comparison of this profile with the client. */
  version: string;
  /** Examined version of the client; `unknown` for services. */
  observed: string;
  facts: readonly ProfileFact[];
  /** Origin of its requests: the user's machine, a data centre, a web page. */
  runsOn: 'machine' | 'cloud' | 'page';
  /** Sent with every request, if proxies are known to react to it. */
  userAgent?: string;
  /** Order of the places of resource metadata. */
  resourcePlaces: readonly ResourcePlaceName[];
  /** True if the place named by a challenge is the only one requested. Without metadata the origin is used. */
  challengeDecides: boolean;
  /** Comparison of `resource`: byte for byte, as parsed URLs, or as the same URL or a parent. */
  resource: 'exact' | 'url' | 'covers';
  /** Comparison of the metadata's issuer with the requested one. */
  issuer: 'exact' | 'exact_or_slash' | 'unchecked';
  /** True if metadata of an issuer with a path is also requested at the root. */
  issuerAtRoot: boolean;
  /** Behaviour without authorization server metadata: it uses /authorize, /token and /register, or stops. */
  withoutMetadata: 'default_endpoints' | 'stops';
  /** Use of `code_challenge_methods_supported`. */
  pkce: 'must_list' | 'if_listed' | 'unread';
  /** In order of preference. */
  registration: readonly ('metadata_document' | 'dynamic')[];
  /** URL of its client ID metadata document; `needsNone` if it uses it only with a server that lists `none`. */
  metadataDocument?: { url: string; needsNone: boolean };
  /** Its registration request (RFC 7591 section 2), except for its name: the doctor identifies itself. */
  registrationBody: { redirect_uris: readonly string[] } & Readonly<Record<string, unknown>>;
  /** A redirect URI as sent by a login, with any port. */
  redirectUri: string;
  /** Known content of its metadata document, except for `client_id`. */
  document?: { redirect_uris: readonly string[] } & Readonly<Record<string, unknown>>;
  /** Spelling of `resource` in the requests of a login, in order: authorization, token, refresh. */
  resourceSpellings: readonly [ResourceSpelling, ...ResourceSpelling[]];
  /** Requested scopes: those of the challenge, all that the authorization server lists, or none. */
  asksScopesOf: 'challenge' | 'issuer' | 'nobody';
  registersAgain: RegistersAgain;
  /** Tolerances that it needs for a login, or for an hour of use. */
  needs: readonly ToleranceName[];
}

/** Behaviour of clients that use the TypeScript SDK v1 without changes. */
export const sdkV1Behaviour = {
  resourcePlaces: ['by the challenge', 'with the path', 'at the root'],
  challengeDecides: true,
  resource: 'covers',
  issuer: 'unchecked',
  issuerAtRoot: false,
  withoutMetadata: 'default_endpoints',
  pkce: 'if_listed',
  resourceSpellings: ['published'],
  asksScopesOf: 'challenge',
  registersAgain: 'on_invalid_client',
  needs: ['repeatedRefresh', 'unaskedRefreshToken'],
} as const satisfies Partial<ClientProfile>;

/** Registration members that most clients send. */
export const publicClientBody = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;

/** Returns the fact of a profile that uses a recorded registration of an npm package. */
export function recordedOf(npmPackage: string): ProfileFact {
  return {
    says: 'registers itself, and comes back to its redirect URI, as recorded (the port and the scopes differ)',
    grounds: 'recording',
    from: `https://www.npmjs.com/package/${npmPackage}`,
  };
}
