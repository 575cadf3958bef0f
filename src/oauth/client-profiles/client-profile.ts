import type { ToleranceName } from '../tolerances.ts';

/** Where a statement about a client comes from: its source code or documentation, a report of others, or a conclusion of ours. */
export type Grounds = 'source' | 'documentation' | 'report' | 'inferred';

/** One thing a client is known to do. */
export interface ProfileFact {
  says: string;
  grounds: Grounds;
  /** Where to read it. */
  from: string;
}

/** Where protected resource metadata is looked for. */
export type ResourcePlaceName = 'by the challenge' | 'with the path' | 'at the root';

/** How a client writes the `resource` that is published. */
export type ResourceSpelling = 'published' | 'slash' | 'origin';

/**
 * When a client registers anew: if the token endpoint says `invalid_client`, if the authorization endpoint says so
 * in JSON before a browser is opened, when its person removes the login, or at each login.
 */
export type RegistersAgain = 'on_invalid_client' | 'after_preflight' | 'by_hand' | 'each_time';

/** How a client is known to behave, as data. What is not known stands as the SDK it is built on does it, and is said to be inferred. */
export interface ClientProfile {
  /** As `--as` takes it. */
  name: string;
  title: string;
  /** Of this description: the day it was last compared with the client. */
  version: string;
  /** The version of the client that was looked at; `unknown` for services. */
  observed: string;
  facts: readonly ProfileFact[];
  /** Where its requests come from: the user's machine, a data centre, a web page. */
  runsOn: 'machine' | 'cloud' | 'page';
  /** Sent with every request, if it has one that proxies are known to act upon. */
  userAgent?: string;
  /** In which order metadata of the resource is looked for. */
  resourcePlaces: readonly ResourcePlaceName[];
  /** Whether a challenge that names a place is the only one that is asked. Without metadata the origin is taken. */
  challengeDecides: boolean;
  /** How `resource` is compared: byte for byte, as parsed URLs, as the same URL or one above it. */
  resource: 'exact' | 'url' | 'covers';
  /** How the issuer of the metadata is compared with the one asked for. */
  issuer: 'exact' | 'exact_or_slash' | 'unchecked';
  /** Whether metadata of an issuer with a path is also looked for at the root. */
  issuerAtRoot: boolean;
  /** What it does if an authorization server has no metadata: it takes /authorize, /token and /register there, or stops. */
  withoutMetadata: 'default_endpoints' | 'stops';
  /** What it makes of `code_challenge_methods_supported`. */
  pkce: 'must_list' | 'if_listed' | 'unread';
  /** In the order of its choice. */
  registration: readonly ('metadata_document' | 'dynamic')[];
  /** Its client ID metadata document, and whether it uses it only if the server lists `none`. */
  metadataDocument?: { url: string; needsNone: boolean };
  /** What it registers with (RFC 7591 section 2), but for its name: the doctor says who it is. */
  registrationBody: { redirect_uris: readonly string[] } & Readonly<Record<string, unknown>>;
  /** A redirect URI as a login sends it; its port is any. */
  redirectUri: string;
  /** What its own metadata document is known to say, but for its `client_id`. */
  document?: { redirect_uris: readonly string[] } & Readonly<Record<string, unknown>>;
  /** How it writes `resource`, in the order of the requests of a login: to authorize, for tokens, to refresh. */
  resourceSpellings: readonly [ResourceSpelling, ...ResourceSpelling[]];
  /** Which scopes it asks for: those of the challenge, all the authorization server lists, or none. */
  asksScopesOf: 'challenge' | 'issuer' | 'nobody';
  registersAgain: RegistersAgain;
  /** Tolerances it does not get through a login without, or through an hour of use. */
  needs: readonly ToleranceName[];
}

/** What clients share that are built on the TypeScript SDK v1 and change nothing of it. */
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

/** Members of registrations that most clients send. */
export const publicClientBody = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;
