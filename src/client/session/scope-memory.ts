import type { InsufficientScopeError } from '../client-error.ts';
import type { Credential } from '../stores/credential-store.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';

/** Refusals one operation may meet within the window; then it is not sent for the rest. */
const stormLimits = { limit: 5, windowSeconds: 60, restSeconds: 60 };

/** What an operation was last refused with. */
interface Refusal {
  breaker: CircuitBreaker;
  error: InsufficientScopeError;
  accessToken: string | undefined;
}

/**
 * What a session remembers of refusals for scopes, by operation: those that come again and again, and scopes that the
 * authorization server did not grant.
 * @see MCP authorization "Step-Up Authorization Flow" (A8-08, T-186)
 */
export class ScopeMemory {
  readonly #now: () => number;
  readonly #refusals = new Map<string, Refusal>();
  readonly #futile = new Set<string>();

  /** @param now epoch seconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws InsufficientScopeError for an operation that is held back with this credential */
  requireCalm(used: Credential | undefined, operation: () => string): void {
    if (this.#refusals.size === 0) return;
    const refusal = this.#refusals.get(operation());
    if (refusal?.breaker.isOpen() && refusal.accessToken === used?.accessToken) throw refusal.error;
  }

  /** Counts a refusal that nothing could be done about. @returns the failure */
  refuse(
    used: Credential | undefined,
    operation: string,
    error: InsufficientScopeError,
  ): InsufficientScopeError {
    const breaker = this.#refusals.get(operation)?.breaker ?? createCircuitBreaker(stormLimits, this.#now);
    this.#refusals.set(operation, { breaker, error, accessToken: used?.accessToken });
    breaker.strike();
    return error;
  }

  /** Takes note that an operation went through. */
  accept(operation: () => string): void {
    if (this.#refusals.size > 0) this.#refusals.delete(operation());
  }

  /** Remembers that the authorization server does not grant these scopes. */
  giveUp(operation: string, missing: readonly string[]): void {
    this.#futile.add(futileKey(operation, missing));
  }

  /** @returns whether asking for these scopes has been of no use */
  isFutile(operation: string, missing: readonly string[]): boolean {
    return this.#futile.has(futileKey(operation, missing));
  }
}

function futileKey(operation: string, missing: readonly string[]): string {
  return JSON.stringify([operation, ...[...missing].sort()]);
}
