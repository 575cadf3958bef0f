/**
 * Who is calling: what the resource server learned from an access token.
 * It never holds the token itself, so nothing behind the gate can pass it on
 * (MCP authorization, "Token Passthrough"; RFC 9700 section 4.9).
 */
export interface AuthInfo {
  /** Issuer of the token. Together with `subject` it names the account. */
  issuer: string;
  /** Who the token is about (`sub`): the account that allowed the client to act, or the client itself, by its id. */
  subject: string;
  /** The OAuth client that presented the token. */
  clientId: string;
  /** Granted scopes, in the order of the token. */
  scopes: readonly string[];
  /** The resource the token was issued for (`aud`, RFC 8707). */
  audience: string;
  /** End of the token's life, epoch seconds. */
  expiresAt: number;
  /** The consent record the token hangs on, if the issuer is this installation and an account consented. */
  grantId?: string;
  /** The login at an upstream that the grant hangs on, by the id of its link; absent if it hangs on none. */
  upstreamLinkId?: string;
  /**
   * The name under which the token is stored, if the issuer is this installation: a hash that finds it and cannot
   * be presented as it. It tells whether the token still stands while a stream is open (A12-04).
   */
  tokenId?: string;
  /** The key the token is bound to, by its JWK thumbprint (`cnf.jkt`, RFC 9449 section 6); absent for a bearer token. */
  keyThumbprint?: string;
}

/**
 * One unambiguous key for the principal of a call: the client, acting for the subject at the issuer.
 * @param authInfo the caller
 * @returns a string in which no part can run into its neighbour (T-104)
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
 * How the keys of all principals of one account begin, whatever the client.
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
 * Reads the client out of the key of a principal.
 * @param key see {@link principalKey}
 */
export function clientOfPrincipal(key: string): string {
  return String((JSON.parse(key) as string[])[2]);
}

/**
 * Reads the route out of the key of a principal, as it is stored with a session.
 * @param key see {@link principalKey}; the path of a route may stand behind the client
 * @returns the path below the public URL; empty for none
 */
export function routeOfPrincipal(key: string): string {
  const [, , , path = ''] = JSON.parse(key) as string[];
  return path;
}

/** Keys of callers that cannot change any more: a token's caller is the same object on each request. */
const principalKeys = new WeakMap<object, string>();
/** The same of {@link accountKeyPrefix}. */
const accountPrefixes = new WeakMap<object, string>();

/**
 * Nobody can tell at the moment whether an access token stands: who would know does not answer. Nothing the caller did,
 * and no reason to throw the token away; the same request may succeed later. `app/errors` answers it with 503.
 */
export class TokenStatusUnknown extends Error {
  override name = 'TokenStatusUnknown';
  /** For Koa if nobody of ours answers: the message is for the caller. */
  readonly status = 503;
  readonly expose = true;
  readonly retryAfterSeconds: number;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param message a sentence in ASCII for the caller, without secrets
   * @param retryAfterSeconds when it is worth to try again
   * @param options the cause, for the log alone
   */
  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = { 'Retry-After': String(retryAfterSeconds) };
  }
}
