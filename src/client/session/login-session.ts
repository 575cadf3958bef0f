import { missingScopes, scopeUnion } from '../../oauth/scope.ts';
import { LoginRequiredError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import { readFirstChallenge } from '../discovery/first-challenge.ts';
import type { Credential, CredentialStore, FormerLogin } from '../stores/credential-store.ts';
import { freshCredential } from '../tokens/tokens.ts';
import { formerLogin } from './former-login.ts';
import { ScopeRefusals, scopeRefusal } from './scope-refusals.ts';
import { newTokenSeconds, TokenHistory } from './token-history.ts';

/** The reason why a new credential is needed. */
export interface AuthorizationNeed {
  /** Canonical URL of the MCP server. */
  server: string;
  /**
   * `no_credential`: there is none. `rejected`: the server rejects the one at hand, and it could not be
   * renewed. `insufficient_scope`: the token is valid, but lacks scopes.
   */
  why: 'no_credential' | 'rejected' | 'insufficient_scope';
  /**
   * All scopes granted and required (A8-07); absent if none are known: the scopes that the server names are
   * then requested.
   */
  scopes?: readonly string[];
  /** The login that the new one replaces, even if that has ended. */
  before?: FormerLogin | undefined;
  /** `WWW-Authenticate` of the response, its fields joined by a comma; null if it had none. */
  challenge: string | null;
}

/**
 * Gets a new credential and stores it: with the user, or by a grant without one. A session calls it once for
 * all waiting requests, and at most a few times (A8-08, T-186).
 * @throws ClientError if there is no credential to be had
 */
export type Authorizer = (need: AuthorizationNeed) => Promise<Credential>;

/** Maximum number of authorizer calls for one need without success (A8-08). */
const maxAuthorizations = 3;

/** Options of a {@link LoginSession}. */
export interface LoginSessionOptions {
  context: ClientContext;
  /** Canonical URL of the MCP server. */
  server: string;
  store: CredentialStore;
  /** Gets new credentials. Without one, the session throws an error that names what is needed. */
  authorizer?: Authorizer | undefined;
}

/** The steps already tried for one request. */
export interface Recovery {
  renewed?: boolean;
  authorized?: boolean;
}

const notAccepted = 'The server does not accept the token of this login.';

/** The map key of all authorizations that are not about scopes. */
const anyOperation = '';

/**
 * The login to one MCP server during a run of requests. It provides the credential for each request, and
 * replaces it if the server rejects it. The number of attempts is bounded, so that a server that rejects
 * everything causes no endless loop.
 * @see MCP authorization "Error Handling" (A8-07, A8-08, T-186)
 */
export class LoginSession {
  readonly #options: LoginSessionOptions;
  readonly #tokens: TokenHistory;
  readonly #scopes: ScopeRefusals;
  /** Number of authorizer calls by operation. */
  readonly #authorizations = new Map<string, number>();

  constructor(options: LoginSessionOptions) {
    this.#options = options;
    this.#tokens = new TokenHistory(options.server, options.context.now);
    this.#scopes = new ScopeRefusals(options.context.now);
  }

  /**
   * Returns the credential for the next request, and renews it if it expires soon.
   * @returns undefined if there is no valid credential: the request is then sent without one
   * @throws LoginRequiredError if requests are blocked, or only a login helps; ClientError
   */
  async current(): Promise<Credential | undefined> {
    const { context, store, server, authorizer } = this.#options;
    this.#tokens.requireCalm();
    const credential = await freshCredential(context, store, server).catch((error: unknown) => {
      if (authorizer === undefined || !(error instanceof LoginRequiredError)) throw error;
      return undefined;
    });
    if (credential !== undefined) this.#tokens.meet(credential);
    return credential;
  }

  /**
   * Blocks a request that was rejected for missing scopes too often.
   * @param used the credential of the request
   * @param operation its operation
   * @throws InsufficientScopeError
   */
  admit(used: Credential | undefined, operation: () => string): void {
    this.#scopes.requireCalm(used, operation);
  }

  /**
   * Records that the server accepted a credential. If it does so for a while, the counts of earlier logins
   * are reset.
   * @param used the credential
   * @param operation the operation that succeeded; undefined if the server accepted the token but requires
   *   more scopes
   */
  accept(used: Credential | undefined, operation: (() => string) | undefined): void {
    if (used === undefined) return;
    if (operation !== undefined) this.#scopes.accept(operation);
    if (this.#authorizations.size === 0 || this.#tokens.ageOf(used) < newTokenSeconds) return;
    this.#authorizations.delete(anyOperation);
    if (operation !== undefined) this.#authorizations.delete(operation());
  }

  /**
   * Returns another credential after a 401: renewed, else from the authorizer.
   * @param used the credential of the request, if it had one
   * @param challenge its `WWW-Authenticate`
   * @param tried the steps already tried for this request; this call adds to them
   * @throws LoginRequiredError if no credential can be had, or a new one was rejected; the errors of the
   *   authorizer
   */
  async replace(
    used: Credential | undefined,
    challenge: string | null,
    tried: Recovery,
  ): Promise<Credential> {
    const { context, store, server, authorizer } = this.#options;
    if (used === undefined) {
      if (this.#tokens.hasEnded()) this.#authorizations.delete(anyOperation);
      return this.#authorize({ server, why: 'no_credential', challenge }, used, tried);
    }
    const isStorm = this.#tokens.reject(used);
    if (isStorm) this.#tokens.requireCalm();
    if (tried.authorized || (tried.renewed && authorizer === undefined))
      throw this.#tokens.giveUp(used, challenge);
    if (!tried.renewed) {
      tried.renewed = true;
      try {
        const renewed = await freshCredential(context, store, server, used.accessToken);
        if (renewed !== undefined && renewed.accessToken !== used.accessToken)
          return this.#tokens.obtain(renewed);
      } catch (error) {
        if (authorizer === undefined || !(error instanceof LoginRequiredError)) throw error;
      }
    }
    // The new login requests the scopes of the old one, so that scopes granted by step-ups are not lost
    // (A8-07).
    const { scopes = [] } = used;
    const held = scopes.length > 0 && { scopes };
    return this.#authorize(
      { server, why: 'rejected', ...held, before: formerLogin(used), challenge },
      used,
      tried,
    );
  }

  /**
   * Returns a credential with more scopes, after a 403 for missing scopes (step-up).
   * @param used the credential of the request
   * @param required the scopes of the challenge
   * @param operation the operation of the request
   * @param challenge the `WWW-Authenticate` of the response
   * @throws InsufficientScopeError if no more scopes can be had; the errors of the authorizer
   */
  async stepUp(
    used: Credential | undefined,
    required: readonly string[],
    operation: string,
    challenge: string | null,
  ): Promise<Credential> {
    const { server, authorizer } = this.#options;
    const refusal = scopeRefusal(server, used, required);
    const spent = (this.#authorizations.get(operation) ?? 0) >= maxAuthorizations;
    if (
      authorizer === undefined ||
      refusal.missing.length === 0 ||
      spent ||
      this.#scopes.isFutile(operation, refusal.missing)
    )
      throw this.#scopes.refuse(used, operation, refusal);
    const why = 'insufficient_scope' as const;
    const need = { server, why, scopes: refusal.union, before: formerLogin(used), challenge };
    const wider = await this.#run(need, used, operation, authorizer);
    const missing = missingScopes(wider.scopes ?? refusal.union, required);
    if (missing.length === 0) return wider;
    this.#scopes.giveUp(operation, missing);
    throw this.#scopes.refuse(wider, operation, scopeRefusal(server, wider, required));
  }

  async #authorize(
    need: AuthorizationNeed,
    used: Credential | undefined,
    tried: Recovery,
  ): Promise<Credential> {
    const { server, store, authorizer } = this.#options;
    if (authorizer === undefined)
      throw new LoginRequiredError(
        server,
        need.why === 'no_credential' ? 'You are not logged in to this server.' : notAccepted,
        (await store.findFormerLogin(server)) ?? need.before,
      );
    tried.authorized = true;
    return this.#run(need, used, anyOperation, authorizer);
  }

  async #run(
    need: AuthorizationNeed,
    used: Credential | undefined,
    operation: string,
    authorizer: Authorizer,
  ): Promise<Credential> {
    const { context, store, server } = this.#options;
    const counted: Authorizer = (wanted) => {
      const count = this.#authorizations.get(operation) ?? 0;
      if (count >= maxAuthorizations)
        throw new LoginRequiredError(
          server,
          `${count} logins did not help: the server still rejects the token. Find out why before you log in again.`,
          wanted.before,
        );
      this.#authorizations.set(operation, count + 1);
      return authorizer(wanted);
    };
    return this.#tokens.obtain(await authorizeOnce(store, need, used, counted, context.now));
  }
}

const inFlight = new WeakMap<CredentialStore, Map<string, Promise<Credential>>>();

/** Checks if a credential that is now in the store satisfies a need that the used one did not. */
function meets(
  need: AuthorizationNeed,
  credential: Credential,
  used: Credential | undefined,
  now: number,
): boolean {
  const { accessToken, expiresAt, scopes } = credential;
  if (accessToken === used?.accessToken || (expiresAt !== undefined && expiresAt <= now)) return false;
  return scopes === undefined || missingScopes(scopes, need.scopes ?? []).length === 0;
}

/** Adds the scopes held so far and those that the server requires now, if any are known (A8-06, A8-07). */
function widened(need: AuthorizationNeed, held: Credential | undefined): AuthorizationNeed {
  const known = scopeUnion(held?.scopes ?? [], need.scopes ?? []);
  if (known.length === 0) return need;
  return { ...need, scopes: scopeUnion(known, readFirstChallenge(need.challenge).scopes ?? []) };
}

/**
 * Runs an authorizer once for all callers with the same need, in this process and in others on the same
 * store. Later callers get the credential of the first one. If that has too few scopes or has expired, the
 * authorizer runs again, with its scopes added.
 * @param store the store of the credential
 * @param need the reason why a credential is needed
 * @param used the credential that is insufficient, if there was one
 * @param authorizer gets a new credential and stores it
 * @param now epoch seconds
 * @throws the error of the authorizer, to all callers in this process that waited for it
 * @see RFC 9700 section 4.14 (T-186, T-188)
 */
export function authorizeOnce(
  store: CredentialStore,
  need: AuthorizationNeed,
  used: Credential | undefined,
  authorizer: Authorizer,
  now: () => number,
): Promise<Credential> {
  const flights = inFlight.get(store) ?? new Map<string, Promise<Credential>>();
  inFlight.set(store, flights);
  const key = JSON.stringify([need.server, [...(need.scopes ?? [])].sort()]);
  const flying = flights.get(key);
  if (flying !== undefined) return flying;
  const flight = store
    .exclusively(JSON.stringify(['authorization', need.server]), async () => {
      const held = await store.findCredential(need.server);
      if (held !== undefined && meets(need, held, used, now())) return held;
      const before = (await store.findFormerLogin(need.server)) ?? need.before;
      return authorizer({ ...widened(need, held), before });
    })
    .finally(() => flights.delete(key));
  flights.set(key, flight);
  return flight;
}
