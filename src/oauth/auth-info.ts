/** The login of a caller at the upstream through which the account allowed the client. */
export interface CallerIdentity {
  /** Name of the upstream in the settings. */
  name: string;
  issuer: string;
  /** `sub` at the upstream. */
  subject: string;
  /** Groups of the account there; absent if the upstream named none. */
  groups?: readonly string[];
  /** Roles of the account there; absent if the upstream named none. */
  roles?: readonly string[];
  /** The claims that `callerClaims` of the upstream selects; absent if there are none. */
  claims?: Readonly<Record<string, unknown>>;
}

/** The client of a caller. */
export interface CallerClient {
  /** Display name; the operator has checked it only if the kind is `operator` or `settings`. */
  name?: string;
  /** Origin of the client: `registered` by itself, or described by its own `metadata_document`. */
  kind: 'registered' | 'metadata_document' | 'operator' | 'settings';
}

/**
 * Data about the account, the client and the login of a caller, as this installation has stored them. They may be a
 * minute old. A member without a value is absent.
 */
export interface CallerDetails {
  /** E-mail address of the account. */
  email?: string;
  /** True if the upstream of the login has verified the address; absent without an address. */
  emailVerified?: boolean;
  displayName?: string;
  /** Absent if the account did not log in through an upstream. */
  upstream?: CallerIdentity;
  client?: CallerClient;
  /** Time of the login in which the account allowed the client (`auth_time`), epoch seconds. */
  authTime?: number;
  /** Authentication methods of that login (`amr`, RFC 8176). */
  amr?: readonly string[];
}

/** The party that acts for the subject of a token, with the previous actor (RFC 8693 section 4.1). */
export interface Actor {
  sub: string;
  act?: Actor;
}

/**
 * The caller, as described by an access token. It never contains the token itself, so nothing behind the gateway can
 * pass it on (MCP authorization, "Token Passthrough"; RFC 9700 section 4.9).
 */
export interface AuthInfo extends CallerDetails {
  /** Issuer of the token. Together with `subject` it names the account. */
  issuer: string;
  /** `sub` of the token: the account that authorized the client, or the client itself, by its id. */
  subject: string;
  /** The OAuth client that presented the token. */
  clientId: string;
  /** Granted scopes, in the order of the token. */
  scopes: readonly string[];
  /** The resource the token was issued for (`aud`, RFC 8707). */
  audience: string;
  /** Expiry of the token, epoch seconds. */
  expiresAt: number;
  /** The grant of the token, if this installation issued it and an account consented. */
  grantId?: string;
  /** Link id of the upstream session on which the grant depends; absent if there is none. */
  upstreamLinkId?: string;
  /**
   * Stored id of the token, if this installation issued it: a hash that finds the token but cannot be used as one. Open
   * streams use it to check that the token is not revoked (A12-04).
   */
  tokenId?: string;
  /** JWK thumbprint of the key the token is bound to (`cnf.jkt`, RFC 9449 section 6); absent for a bearer token. */
  keyThumbprint?: string;
  /** The parties that act for the subject by token exchange, by their ids, the present one first; absent if none does. */
  actors?: readonly string[];
}

/** Maximum number of actors that are read. */
const maxActors = 10;

/** Reads the chain of actors of a token. @see RFC 8693 section 4.1 */
export function readActors(act: unknown): Pick<AuthInfo, 'actors'> {
  const actors: string[] = [];
  let { sub, act: before } = Object(act) as { sub?: unknown; act?: unknown };
  while (typeof sub === 'string' && actors.length < maxActors) {
    actors.push(sub);
    ({ sub, act: before } = Object(before) as { sub?: unknown; act?: unknown });
  }
  return actors.length === 0 ? {} : { actors: Object.freeze(actors) };
}

/**
 * Reads the login from the claims of a token or its introspection; malformed claims count as absent.
 * @see RFC 9068 section 2.2.1, RFC 9470 section 6
 */
export function readLogin({
  auth_time: time,
  amr,
}: Readonly<Record<string, unknown>>): Pick<CallerDetails, 'authTime' | 'amr'> {
  const areMethods = Array.isArray(amr) && amr.every((method) => typeof method === 'string');
  return {
    ...(Number.isSafeInteger(time) && { authTime: Number(time) }),
    ...(areMethods && { amr: Object.freeze([...amr]) }),
  };
}

/**
 * Returns the unique key of the principal of a call: the client acting for the subject at the issuer.
 * @param authInfo the caller
 * @returns an unambiguous encoding of the three parts (T-104)
 */
export function principalKey(authInfo: Pick<AuthInfo, 'issuer' | 'subject' | 'clientId'>): string {
  let key = principalKeys.get(authInfo);
  if (key === undefined) {
    key = JSON.stringify([authInfo.issuer, authInfo.subject, authInfo.clientId]);
    if (Object.isFrozen(authInfo)) principalKeys.set(authInfo, key);
  }
  return key;
}

/**
 * Returns the common prefix of the keys of all principals of an account, for any client.
 * @see principalKey
 */
export function accountKeyPrefix(account: Pick<AuthInfo, 'issuer' | 'subject'>): string {
  let prefix = accountPrefixes.get(account);
  if (prefix === undefined) {
    prefix = `${JSON.stringify([account.issuer, account.subject]).slice(0, -1)},"`;
    if (Object.isFrozen(account)) accountPrefixes.set(account, prefix);
  }
  return prefix;
}

/**
 * Returns the client id in a principal's key.
 * @param key see {@link principalKey}
 */
export function clientOfPrincipal(key: string): string {
  return String((JSON.parse(key) as string[])[2]);
}

/**
 * Returns the route in a principal's key, as stored with a session.
 * @param key see {@link principalKey}, possibly followed by the path of a route
 * @returns the path below the public URL; empty if there is none
 */
export function routeOfPrincipal(key: string): string {
  const [, , , path = ''] = JSON.parse(key) as string[];
  return path;
}

/** Cached by caller: all requests with a token share an immutable caller object. */
const principalKeys = new WeakMap<object, string>();
/** Cached results of {@link accountKeyPrefix}. */
const accountPrefixes = new WeakMap<object, string>();

/**
 * The status of an access token is unknown because the authority for it does not respond. Not the caller's fault, and
 * no reason to discard the token: the same request may succeed later. `app/errors` responds with 503.
 */
export class TokenStatusUnknown extends Error {
  override name = 'TokenStatusUnknown';
  /** Koa sends it as the response status if no handler of ours responds, with the message for the caller. */
  readonly status = 503;
  readonly expose = true;
  readonly retryAfterSeconds: number;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param message a sentence in ASCII for the caller, without secrets
   * @param retryAfterSeconds earliest time to retry
   * @param options the cause, for the log only
   */
  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = { 'Retry-After': String(retryAfterSeconds) };
  }
}
