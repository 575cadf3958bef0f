import type { ReadingToleranceName } from '../oauth/reading-tolerances.ts';
import type { FormerLogin } from './stores/credential-store.ts';

/** The reason of a {@link ClientError}, for programs. */
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

/** An error of the client. Its message says how to continue, and contains no token, code or secret. */
export class ClientError extends Error {
  override name = 'ClientError';
  readonly reason: ClientErrorReason;
  /**
   * The OAuth `error` code, if the authorization server sent one (RFC 6749 section 4.1.2.1, RFC 8628 section
   * 3.5).
   */
  readonly oauthError: string | undefined;

  /**
   * @param reason the reason, for programs
   * @param message a sentence for people: the failure, and a way to resolve it
   * @param options the cause, and the OAuth error code of the authorization server
   */
  constructor(reason: ClientErrorReason, message: string, options?: ErrorOptions & { oauthError?: string }) {
    super(message, options);
    this.reason = reason;
    this.oauthError = options?.oauthError;
  }
}

/** One request of discovery and its result. */
export interface DiscoveryStep {
  /** The purpose of the request. */
  purpose: 'challenge' | 'protected_resource' | 'authorization_server' | 'default_endpoints';
  method: 'GET' | 'POST' | 'none';
  url: string;
  /** HTTP status; absent if there was no response or no request. */
  status?: number;
  /** `taken`: used. `absent`: not there, the next URL is fetched. `refused`: there, but must not be used. */
  verdict: 'taken' | 'absent' | 'refused';
  /** The reason, in words. */
  reason: string;
  /** Accepted deviations from standards, by name (docs/tolerances.md). */
  tolerated?: readonly ReadingToleranceName[];
  /** The `resource` of metadata that is for another server. */
  resource?: string;
}

/** Discovery stopped. The trace lists every request, and why its response was accepted or rejected. */
export class DiscoveryError extends ClientError {
  override name = 'DiscoveryError';
  readonly trace: readonly DiscoveryStep[];

  /**
   * @param failure the reason why discovery stopped
   * @param trace the steps up to there
   */
  constructor(failure: ClientError, trace: readonly DiscoveryStep[]) {
    super(failure.reason, failure.message);
    this.trace = trace;
  }
}

/** The server accepts no token at hand, and a new one needs the user. */
export class LoginRequiredError extends ClientError {
  override name = 'LoginRequiredError';
  /** URL of the MCP server. */
  readonly server: string;
  /** The login that has ended. */
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
  /** Scopes of the challenge. */
  readonly required: readonly string[];
  /** Required scopes that the token lacks, as far as known. */
  readonly missing: readonly string[];
  /** Scopes to request at the next login: all granted and all required ones (A8-07). */
  readonly union: readonly string[];
  /** The login whose token lacks scopes. */
  readonly before: FormerLogin;

  /**
   * @param server URL of the MCP server
   * @param scopes the scopes of the challenge, compared with the credential
   * @param before the login whose token lacks scopes
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
