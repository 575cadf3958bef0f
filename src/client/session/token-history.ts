import { isForNoToken } from '../../oauth/challenge.ts';
import { LoginRequiredError } from '../client-error.ts';
import type { Credential } from '../stores/credential-store.ts';
import { formerLogin } from './former-login.ts';

/** A token rejected within this time was never accepted, in seconds. */
export const newTokenSeconds = 60;

/** Limits of new tokens that may be rejected; above them nothing is sent for `restSeconds` (T-186). */
const stormLimits = { limit: 3, windowSeconds: 60, restSeconds: 60 };

/** Explains why a server rejects every token, by its `WWW-Authenticate`. */
function whyRefused(challenge: string | null): string {
  return isForNoToken(challenge)
    ? 'Its response is that to a request without a token: a proxy in front of it may remove the Authorization header; gatehouse doctor --proxy checks that.'
    : 'Its authorization server may issue tokens for another audience.';
}

/**
 * The tokens of one session: when each was obtained, and which one the server rejected. It distinguishes an
 * expired token from one that was never accepted, and stops endless renewals that change nothing (T-186).
 */
export class TokenHistory {
  readonly #server: string;
  readonly #now: () => number;
  readonly #storm: CircuitBreaker;
  #latest: { credential: Credential; since: number } | undefined;
  #rejected: string | undefined;
  #givenUp: { accessToken: string; at: number } | undefined;

  constructor(server: string, now: () => number) {
    this.#server = server;
    this.#now = now;
    this.#storm = createCircuitBreaker(stormLimits, now);
  }

  /** Records a token that was just obtained, and returns its credential. */
  obtain(credential: Credential): Credential {
    if (credential.accessToken !== this.#latest?.credential.accessToken)
      this.#latest = { credential, since: this.#now() };
    return credential;
  }

  /**
   * Records a token from the store. The first one of a session may be old.
   * @throws LoginRequiredError for a token that was blocked a moment ago
   */
  meet(credential: Credential): void {
    if (this.#latest === undefined) this.#latest = { credential, since: Number.NEGATIVE_INFINITY };
    else this.obtain(credential);
    const { accessToken, at } = this.#givenUp ?? { at: Number.NEGATIVE_INFINITY };
    if (accessToken === credential.accessToken && this.#now() - at < stormLimits.restSeconds)
      throw new LoginRequiredError(
        this.#server,
        'The server does not accept the token of this login.',
        formerLogin(credential),
      );
  }

  /** Returns the time since this session obtained the token, in seconds. */
  ageOf({ accessToken }: Credential): number {
    const { credential, since } = this.#latest ?? { since: Number.NEGATIVE_INFINITY };
    return credential?.accessToken === accessToken ? this.#now() - since : Number.POSITIVE_INFINITY;
  }

  /** Checks if the latest token expired without having been rejected. */
  hasEnded(): boolean {
    const { accessToken, expiresAt = Number.POSITIVE_INFINITY } = this.#latest?.credential ?? {};
    return accessToken !== undefined && accessToken !== this.#rejected && expiresAt <= this.#now();
  }

  /**
   * Records that the server rejected a token. A token counts once, for any number of requests.
   * @returns true if too many new tokens were rejected
   */
  reject(credential: Credential): boolean {
    const isKnown = this.#rejected === credential.accessToken;
    this.#rejected = credential.accessToken;
    if (isKnown || this.ageOf(credential) >= newTokenSeconds) return this.#storm.isOpen();
    return this.#storm.recordFailure();
  }

  /**
   * Blocks a token for a while: it is not sent again.
   * @param challenge `WWW-Authenticate` of the response
   * @returns the error for the caller
   */
  giveUp(credential: Credential, challenge: string | null): LoginRequiredError {
    this.#givenUp = { accessToken: credential.accessToken, at: this.#now() };
    return new LoginRequiredError(
      this.#server,
      `The server does not accept the token of this login, not even a new one. ${whyRefused(challenge)}`,
      formerLogin(credential),
    );
  }

  /** @throws LoginRequiredError with a diagnosis, if too many new tokens were rejected */
  requireCalm(): void {
    if (!this.#storm.isOpen()) return;
    const { limit, windowSeconds, restSeconds } = stormLimits;
    const credential = this.#latest?.credential;
    throw new LoginRequiredError(
      this.#server,
      `The server has rejected ${limit} new tokens within ${windowSeconds} s, while its authorization server continues to issue them. Probably their audience is not ${credential?.resource ?? this.#server}. Nothing is sent to it for ${restSeconds} s.`,
      formerLogin(credential),
    );
  }
}

/** A circuit breaker: it blocks work for a while after too many failures. */
export interface CircuitBreaker {
  /** @returns true if work is blocked now */
  isOpen(): boolean;
  /**
   * Counts a failure.
   * @returns true if work is blocked from now on
   */
  recordFailure(): boolean;
}

/** Limits of a circuit breaker. */
export interface CircuitBreakerLimits {
  /** Number of failures in the window that open the breaker. */
  limit: number;
  /** Length of the window, in seconds. */
  windowSeconds: number;
  /** Time for which work is blocked, in seconds. Earlier failures then no longer count. */
  restSeconds: number;
}

/**
 * Creates a closed breaker.
 * @param now clock, epoch seconds
 */
export function createCircuitBreaker(limits: CircuitBreakerLimits, now: () => number): CircuitBreaker {
  const { limit, windowSeconds, restSeconds } = limits;
  let strikes: number[] = [];
  let openUntil = Number.NEGATIVE_INFINITY;
  const isOpen = (): boolean => now() < openUntil;
  return {
    isOpen,
    recordFailure: () => {
      strikes = [...strikes.filter((at) => now() - at < windowSeconds), now()];
      if (strikes.length >= limit) {
        openUntil = now() + restSeconds;
        strikes = [];
      }
      return isOpen();
    },
  };
}
