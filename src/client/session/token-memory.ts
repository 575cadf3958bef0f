import { isForNoToken } from '../../oauth/challenge.ts';
import { LoginRequiredError } from '../client-error.ts';
import type { Credential } from '../stores/credential-store.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { formerLogin } from './former-login.ts';

/** A token rejected when younger than this was never any good, in seconds. */
export const newTokenSeconds = 60;

/** New tokens that may be rejected within the window; then nothing is sent for the rest (T-186). */
const stormLimits = { limit: 3, windowSeconds: 60, restSeconds: 60 };

/** Why a server may refuse every token, by its `WWW-Authenticate`. */
function whyRefused(challenge: string | null): string {
  return isForNoToken(challenge)
    ? 'Its answer is that to a request without a token: something in front of it may take the Authorization header away; gatehouse doctor --proxy looks there.'
    : 'Its authorization server may issue tokens for another audience.';
}

/**
 * What a session remembers of its tokens: which one it got when, and which one the server would not take. It tells a
 * token that has ended from one that was never any good, and stops a storm of renewals that change nothing.
 * @see T-186
 */
export class TokenMemory {
  readonly #server: string;
  readonly #now: () => number;
  readonly #storm: CircuitBreaker;
  #latest: { credential: Credential; since: number } | undefined;
  #rejected: string | undefined;
  #givenUp: { accessToken: string; at: number } | undefined;

  /** @param server canonical URL of the MCP server @param now epoch seconds */
  constructor(server: string, now: () => number) {
    this.#server = server;
    this.#now = now;
    this.#storm = createCircuitBreaker(stormLimits, now);
  }

  /** Takes note of a token that was just got. @returns the same */
  obtain(credential: Credential): Credential {
    if (credential.accessToken !== this.#latest?.credential.accessToken)
      this.#latest = { credential, since: this.#now() };
    return credential;
  }

  /**
   * Takes note of a token found in the store. The first one of a session may be old.
   * @throws LoginRequiredError for a token that was given up a moment ago
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

  /** @returns how long this session has had a token, in seconds */
  ageOf({ accessToken }: Credential): number {
    const { credential, since } = this.#latest ?? { since: Number.NEGATIVE_INFINITY };
    return credential?.accessToken === accessToken ? this.#now() - since : Number.POSITIVE_INFINITY;
  }

  /** @returns whether the latest token came to its end without having been rejected */
  hasEnded(): boolean {
    const { accessToken, expiresAt = Number.POSITIVE_INFINITY } = this.#latest?.credential ?? {};
    return accessToken !== undefined && accessToken !== this.#rejected && expiresAt <= this.#now();
  }

  /**
   * Takes note that the server rejected a token. However many requests it had, it counts once.
   * @returns whether that was one new token too many
   */
  reject(credential: Credential): boolean {
    const isKnown = this.#rejected === credential.accessToken;
    this.#rejected = credential.accessToken;
    if (isKnown || this.ageOf(credential) >= newTokenSeconds) return this.#storm.isOpen();
    return this.#storm.strike();
  }

  /**
   * Gives a token up: for a while it is not sent again.
   * @param challenge `WWW-Authenticate` of the refusal
   * @returns what to tell the caller
   */
  giveUp(credential: Credential, challenge: string | null): LoginRequiredError {
    this.#givenUp = { accessToken: credential.accessToken, at: this.#now() };
    return new LoginRequiredError(
      this.#server,
      `The server does not accept the token of this login, not even a new one. ${whyRefused(challenge)}`,
      formerLogin(credential),
    );
  }

  /** @throws LoginRequiredError with a diagnosis, during a storm */
  requireCalm(): void {
    if (!this.#storm.isOpen()) return;
    const { limit, windowSeconds, restSeconds } = stormLimits;
    const credential = this.#latest?.credential;
    throw new LoginRequiredError(
      this.#server,
      `The server has rejected ${limit} new tokens within ${windowSeconds} s, while its authorization server goes on issuing them. Most likely they are issued for another audience than ${credential?.resource ?? this.#server}. Nothing is sent to it for ${restSeconds} s.`,
      formerLogin(credential),
    );
  }
}
