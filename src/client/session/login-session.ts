import { missingScopes } from '../../oauth/scope.ts';
import { LoginRequiredError } from '../client-error.ts';
import type { ClientContext } from '../context.ts';
import type { Credential, CredentialStore } from '../stores/credential-store.ts';
import { freshCredential } from '../tokens/tokens.ts';
import { authorizeOnce } from './authorize-once.ts';
import type { AuthorizationNeed, Authorizer } from './authorizer.ts';
import { formerLogin } from './former-login.ts';
import { ScopeMemory } from './scope-memory.ts';
import { scopeRefusal } from './scope-refusal.ts';
import { newTokenSeconds, TokenMemory } from './token-memory.ts';

/** How often an authorizer is called for one need without success (A8-08). */
export const maxAuthorizations = 3;

/** What a session needs. */
export interface LoginSessionOptions {
  context: ClientContext;
  /** Canonical URL of the MCP server. */
  server: string;
  store: CredentialStore;
  /** Gets new credentials; without one, the caller is told what is needed. */
  authorizer?: Authorizer | undefined;
}

/** What was tried already to bring one request through. */
export interface Recovery {
  renewed?: boolean;
  authorized?: boolean;
}

const notAccepted = 'The server does not accept the token of this login.';

/** The authorizations of a session that have nothing to do with scopes are counted together. */
const anyOperation = '';

/**
 * The login of one MCP server over a run of requests. It brings a credential for the next request, and another one
 * where the server refused that, within bounds: a server that refuses everything is not asked without end.
 * @see MCP authorization "Error Handling" (A8-07, A8-08, T-186)
 */
export class LoginSession {
  readonly #options: LoginSessionOptions;
  readonly #tokens: TokenMemory;
  readonly #scopes: ScopeMemory;
  /** Operation -> how often the authorizer was called for it. */
  readonly #authorizations = new Map<string, number>();

  /** @param options server, store, and who gets new credentials */
  constructor(options: LoginSessionOptions) {
    this.#options = options;
    this.#tokens = new TokenMemory(options.server, options.context.now);
    this.#scopes = new ScopeMemory(options.context.now);
  }

  /**
   * Brings the credential for the next request, renewed where it ends soon.
   * @returns undefined where there is none that still lives: the request then goes without
   * @throws LoginRequiredError where requests are held back, or only a login helps; ClientError
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
   * Holds back a request that has been refused for its scopes again and again.
   * @param used the credential it is about to be sent with
   * @param operation its operation
   * @throws InsufficientScopeError
   */
  admit(used: Credential | undefined, operation: () => string): void {
    this.#scopes.requireCalm(used, operation);
  }

  /**
   * Takes note that the server took a credential. Where it goes on doing so for a while, the logins before have helped.
   * @param used the credential
   * @param operation what it was taken for; undefined where the server took it, but for less
   */
  accept(used: Credential | undefined, operation: (() => string) | undefined): void {
    if (used === undefined) return;
    if (operation !== undefined) this.#scopes.accept(operation);
    if (this.#authorizations.size === 0 || this.#tokens.ageOf(used) < newTokenSeconds) return;
    this.#authorizations.delete(anyOperation);
    if (operation !== undefined) this.#authorizations.delete(operation());
  }

  /**
   * Brings another credential after a 401: by renewal, else by the authorizer.
   * @param used the credential of the request; undefined where it had none
   * @param challenge its `WWW-Authenticate`
   * @param tried what was tried for this request; what is tried now is added
   * @throws LoginRequiredError where none can be had, or one just got was rejected; what the authorizer throws
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
    // A new login is for what the one before was for: scopes that were added one by one are not asked for again so (A8-07).
    const { scopes = [] } = used;
    const held = scopes.length > 0 && { scopes };
    return this.#authorize(
      { server, why: 'rejected', ...held, before: formerLogin(used), challenge },
      used,
      tried,
    );
  }

  /**
   * Brings a credential that allows more, after a 403 for scopes.
   * @param used the credential of the request
   * @param required scopes that the challenge asks for
   * @param operation what was asked for
   * @param challenge `WWW-Authenticate` of the refusal
   * @throws InsufficientScopeError where nothing more can be had; what the authorizer throws
   */
  async widen(
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
          `${count} logins did not help: the server still refuses. Find out why before you log in again.`,
          wanted.before,
        );
      this.#authorizations.set(operation, count + 1);
      return authorizer(wanted);
    };
    return this.#tokens.obtain(await authorizeOnce(store, need, used, counted, context.now));
  }
}
