import type { DiscoveryStep } from './discovery/discovery-step.ts';
import type { FormerLogin } from './stores/credential-store.ts';

/** Why the client stopped. */
export type ClientErrorReason =
  | 'bad_url'
  | 'unreachable'
  | 'redirected'
  | 'timed_out'
  | 'too_large'
  | 'server_error'
  | 'not_protected'
  | 'bad_metadata'
  | 'no_metadata'
  | 'resource_mismatch'
  | 'issuer_mismatch'
  | 'foreign_endpoint'
  | 'no_pkce'
  | 'no_registration'
  | 'registration_refused'
  | 'authorization_server_changed'
  | 'authorization_response_rejected'
  | 'authorization_denied'
  | 'redirect_uri_refused'
  | 'callback_port_unusable'
  | 'login_timed_out'
  | 'token_refused'
  | 'client_unknown'
  | 'bad_key'
  | 'login_required'
  | 'store_unusable'
  | 'unknown_store'
  | 'insufficient_scope';

/** A refusal or failure of the client. The message says what to do and holds no token, code or secret. */
export class ClientError extends Error {
  override name = 'ClientError';
  readonly reason: ClientErrorReason;
  /** What the authorization server calls it, where it has a code for it (RFC 6749 section 4.1.2.1, RFC 8628 section 3.5). */
  readonly oauthError: string | undefined;

  /**
   * @param reason the name of the failure
   * @param message what happened and what to do
   * @param options the failure behind it, and what the authorization server calls it
   */
  constructor(reason: ClientErrorReason, message: string, options?: ErrorOptions & { oauthError?: string }) {
    super(message, options);
    this.reason = reason;
    this.oauthError = options?.oauthError;
  }
}

/** Discovery stopped; the trace tells every request made and why its answer was taken or refused. */
export class DiscoveryError extends ClientError {
  override name = 'DiscoveryError';
  readonly trace: readonly DiscoveryStep[];

  /** @param failure what stopped discovery @param trace the steps up to there */
  constructor(failure: ClientError, trace: readonly DiscoveryStep[]) {
    super(failure.reason, failure.message);
    this.trace = trace;
  }
}

/** No token that the server takes is at hand, and none can be had without the user. */
export class LoginRequiredError extends ClientError {
  override name = 'LoginRequiredError';
  /** The MCP server to log in to. */
  readonly server: string;
  /** What the login that has ended was like. */
  readonly before: FormerLogin;

  /**
   * @param server URL of the MCP server
   * @param why one sentence
   * @param before the login that has ended
   */
  constructor(server: string, why: string, before: FormerLogin = {}) {
    super('login_required', why);
    this.server = server;
    this.before = before;
  }
}

/** The token is valid, but the operation needs more scopes (RFC 6750 section 3.1). */
export class InsufficientScopeError extends ClientError {
  override name = 'InsufficientScopeError';
  readonly server: string;
  /** Scopes the challenge names. */
  readonly required: readonly string[];
  /** Those of them the token lacks, as far as known. */
  readonly missing: readonly string[];
  /** What to ask for at the next login: all scopes held and required (A8-07). */
  readonly union: readonly string[];
  /** What the login is like. */
  readonly before: FormerLogin;

  /**
   * @param server URL of the MCP server
   * @param scopes what the challenge and the credential say
   * @param before the login that allows too little
   */
  constructor(
    server: string,
    scopes: { required: readonly string[]; missing: readonly string[]; union: readonly string[] },
    before: FormerLogin = {},
  ) {
    const named = scopes.missing.length > 0 ? scopes.missing : scopes.required;
    super(
      'insufficient_scope',
      named.length > 0
        ? `The server asks for more than this login allows: ${named.join(' ')}`
        : 'The server asks for more than this login allows, without naming the scopes.',
    );
    this.server = server;
    this.required = scopes.required;
    this.missing = scopes.missing;
    this.union = scopes.union;
    this.before = before;
  }
}
