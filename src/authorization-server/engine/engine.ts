import mount from 'koa-mount';
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { KeySet } from '../../crypto/key-schedule.ts';
import { createCookieSigner } from '../../crypto/secret.ts';
import { pathOf } from '../../oauth/well-known.ts';
import type { Logger } from '../../observability/logger.ts';
import { StorageUnavailable } from '../../storage/storage.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { restoreBody } from '../endpoints/form-body.ts';
import { isClientSecretHash, matchesClientSecret } from '../operator-clients/client-secret.ts';
import { compareLocalhostPorts } from '../tolerances.ts';
import { setKnownScopes } from './engine-internals.ts';
import { addGrant, type OwnGrant } from './grant-parts.ts';
import { keepBrowserOfLogin } from './session-browser.ts';

/**
 * An engine that callers may keep. It knows the same clients, sessions and cookies as the engines that follow when
 * signing keys change. Requests that sign tokens must use {@link Engine.at}.
 */
export interface Engine {
  /**
   * One that can be kept: it knows the same clients, sessions and cookies as those that come after it when signing keys
   * change. Whatever signs tokens goes through {@link Engine.at}; what all of them need is given to them in
   * `createProvider`.
   */
  provider: Provider;
  /**
   * Creates the step that passes a request to the engine, under one of the engine's paths below the issuer.
   * @returns throws StorageUnavailable if the database failed meanwhile
   */
  at(path: string): Step;
  /** Replaces the known scopes by those that a new configuration would have. */
  renewScopes(): void;
  /** Builds a new configuration for all later requests. */
  renewConfiguration(): void;
}

/** Options of the engine. */
export interface EngineOptions {
  /** Issuer identifier. */
  issuer: string;
  /** Builds the configuration for this issuer; once for each set of signing keys, and for each first cookie key. */
  configure: () => Configuration;
  /** Returns the current scopes of the configuration. */
  scopes: () => readonly string[];
  /** Grants beyond those of the engine. */
  grants: readonly OwnGrant[];
  keys: Pick<KeySet, 'signing' | 'cookies'>;
  logger: Logger;
}

/**
 * Makes a provider. What it would keep to itself is taken from its events: the error of an authorization request for the
 * page that shows it, and a failing database, which it would call a server error, for `app/errors` to answer.
 */
function createProvider({ issuer, configure, grants, keys, logger }: EngineOptions): Provider {
  const provider = new Provider(issuer, configure());
  provider.proxy = true;
  // Read for each request: a list that changes in place is enough.
  provider.keys = createCookieSigner(keys.cookies) as typeof provider.keys;
  for (const grant of grants) addGrant(provider, grant);
  compareLocalhostPorts(provider);
  compareSecretsAsRegistered(provider);
  keepBrowserOfLogin(provider);
  provider.on('authorization.error', (ctx: KoaContextWithOIDC, error) => {
    ctx.state.authorizationError = error;
  });
  provider.on('grant.error', (ctx: KoaContextWithOIDC, error) => {
    ctx.state.grantError = error;
  });
  provider.on('server_error', (ctx: KoaContextWithOIDC, error) => {
    ctx.state.engineFailure = error;
    const { requestId } = ctx.state;
    logger.error({ requestId, path: ctx.path, err: error }, 'the authorization server failed');
  });
  return provider;
}

/**
 * Creates the engine: oidc-provider, mounted at the path of the issuer. An engine copies its signing keys at its
 * creation, and derives the secret of its nonces from the first cookie key. If these keys change, another engine serves
 * all later requests, and running requests end with theirs. An engine keeps nothing between requests that the storage
 * does not have (T-178).
 */
export function createEngine(options: EngineOptions): Engine {
  const { issuer, keys } = options;
  const base = pathOf(issuer);
  const copiedKeys = (): string => [...keys.signing.map(({ kid }) => kid), keys.cookies[0]].join(' ');
  const build = () => {
    const provider = createProvider(options);
    return { copied: copiedKeys(), provider, mounted: mount(base || '/', provider) };
  };
  const first = build();
  let current = first;
  return {
    provider: first.provider,
    at: (path) => async (ctx) => {
      if (current.copied !== copiedKeys()) current = build();
      ctx.path = `${base}${path}`;
      restoreBody(ctx);
      const { mounted } = current;
      await mounted(ctx as Parameters<typeof mounted>[0], async () => undefined);
      if (ctx.state.engineFailure instanceof StorageUnavailable) throw ctx.state.engineFailure;
    },
    renewConfiguration() {
      current = build();
    },
    renewScopes() {
      for (const { provider } of new Set([first, current])) setKnownScopes(provider, options.scopes());
    },
  };
}

/** A right secret that came the wrong way: only who has it learns which the right one is. */
class SecretByOtherMethod extends errors.OIDCProviderError {
  override name = 'SecretByOtherMethod';
  constructor(registered: string | undefined) {
    super(401, 'invalid_client');
    this.error_description = `this client is registered for ${registered}, and has to send its secret so`;
    this.expose = true;
  }
}

/** The method a secret came by: in the body or in the header. */
function methodOf({ oidc }: KoaContextWithOIDC): string {
  return oidc.params?.client_secret === undefined ? 'client_secret_basic' : 'client_secret_post';
}

/**
 * Makes a provider compare client secrets as they are registered: by their hash if only the hash is stored, and by the
 * registered method only, although the engine accepts `client_secret_basic` and `client_secret_post` alike (RFC 7591
 * section 2, T-047).
 */
export function compareSecretsAsRegistered({ Client }: Provider): void {
  const comparePlain = Client.prototype.compareClientSecret;
  Client.prototype.compareClientSecret = async function compare(sent) {
    const stored = String(this.clientSecret);
    const matches = isClientSecretHash(stored)
      ? matchesClientSecret(stored, sent)
      : await comparePlain.call(this, sent);
    const ctx = Provider.ctx;
    if (matches && ctx && methodOf(ctx) !== this.tokenEndpointAuthMethod)
      throw new SecretByOtherMethod(this.tokenEndpointAuthMethod);
    return matches;
  };
}
