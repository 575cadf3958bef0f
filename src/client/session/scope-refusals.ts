import { parseChallenges } from '../../oauth/challenge.ts';
import { isScopeToken, missingScopes, parseScope, scopeUnion } from '../../oauth/scope.ts';
import { InsufficientScopeError } from '../client-error.ts';
import type { Credential } from '../stores/credential-store.ts';
import { formerLogin } from './former-login.ts';
import { type CircuitBreaker, createCircuitBreaker } from './token-history.ts';

/** Limits of rejections per operation; above them the operation is blocked for `restSeconds`. */
const stormLimits = { limit: 5, windowSeconds: 60, restSeconds: 60 };

/** The latest rejection of an operation. */
interface Refusal {
  breaker: CircuitBreaker;
  error: InsufficientScopeError;
  accessToken: string | undefined;
}

/**
 * The rejections for missing scopes in one session, by operation: repeated ones, and scopes that the
 * authorization server did not grant.
 * @see MCP authorization "Step-Up Authorization Flow" (A8-08, T-186)
 */
export class ScopeRefusals {
  readonly #now: () => number;
  readonly #refusals = new Map<string, Refusal>();
  readonly #futile = new Set<string>();

  /** @param now epoch seconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws InsufficientScopeError if the operation is blocked for this credential */
  requireCalm(used: Credential | undefined, operation: () => string): void {
    if (this.#refusals.size === 0) return;
    const refusal = this.#refusals.get(operation());
    if (refusal?.breaker.isOpen() && refusal.accessToken === used?.accessToken) throw refusal.error;
  }

  /** Counts a rejection that no new credential could resolve, and returns its error. */
  refuse(
    used: Credential | undefined,
    operation: string,
    error: InsufficientScopeError,
  ): InsufficientScopeError {
    const breaker = this.#refusals.get(operation)?.breaker ?? createCircuitBreaker(stormLimits, this.#now);
    this.#refusals.set(operation, { breaker, error, accessToken: used?.accessToken });
    breaker.recordFailure();
    return error;
  }

  /** Records that an operation succeeded. */
  accept(operation: () => string): void {
    if (this.#refusals.size > 0) this.#refusals.delete(operation());
  }

  /** Records that the authorization server does not grant these scopes. */
  giveUp(operation: string, missing: readonly string[]): void {
    this.#futile.add(futileKey(operation, missing));
  }

  /** Checks if an earlier request for these scopes failed. */
  isFutile(operation: string, missing: readonly string[]): boolean {
    return this.#futile.has(futileKey(operation, missing));
  }
}

function futileKey(operation: string, missing: readonly string[]): string {
  return JSON.stringify([operation, ...[...missing].sort()]);
}

/**
 * Authentication schemes whose challenges report missing scopes (RFC 6750 section 3.1; RFC 9449 section 7.1).
 */
const schemes = ['bearer', 'dpop'];

/**
 * Returns the scopes that a response requires beyond those of the token. Some servers report missing scopes
 * with a 401: that counts only if the token indeed lacks them.
 * @param response its body is not read
 * @param used the credential of the request
 * @returns the required scopes; undefined for any other response
 * @see RFC 6750 section 3.1 (A8-07)
 */
export function readRequiredScopes(
  { status, headers }: Response,
  used: Credential | undefined,
): string[] | undefined {
  if (status !== 403 && status !== 401) return undefined;
  const challenge = parseChallenges(headers.get('www-authenticate') ?? '').find(
    ({ scheme, parameters }) => schemes.includes(scheme) && parameters.error === 'insufficient_scope',
  );
  if (challenge === undefined) return undefined;
  const required = parseScope(challenge.parameters.scope).filter(isScopeToken);
  const lacks = used !== undefined && missingScopes(used.scopes ?? [], required).length > 0;
  return status === 403 || lacks ? required : undefined;
}

/**
 * Creates the error for missing scopes. Its `union` lists the scopes for the next login: all granted and all
 * required ones (A8-07).
 * @param server canonical URL of the MCP server
 * @param held the credential with too few scopes
 * @param required the scopes of the challenge
 */
export function scopeRefusal(
  server: string,
  held: Credential | undefined,
  required: readonly string[],
): InsufficientScopeError {
  const scopes = held?.scopes ?? [];
  return new InsufficientScopeError(
    server,
    { required, missing: missingScopes(scopes, required), union: scopeUnion(scopes, required) },
    formerLogin(held),
  );
}
