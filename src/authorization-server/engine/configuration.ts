import {
  type Account,
  type Client,
  type ClientMetadata,
  type Configuration,
  interactionPolicy,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import type { KeySet } from '../../crypto/key-schedule.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import { privateKeyAlgorithms, proofAlgorithms } from '../../oauth/signature-algorithms.ts';
import type { AccountStore } from '../../storage/accounts.ts';
import { supportedAuthMethods } from '../client-metadata.ts';
import { cookieName } from '../cookie-name.ts';
import { devicePaths } from '../device/device-endpoints.ts';
import type { buildDeviceFlow } from '../device/engine-feature.ts';
import { supportedPrompts } from '../endpoints/authorization-endpoint.ts';
import { mayIntrospect } from '../endpoints/introspection-endpoint.ts';
import { createJwtRecorder } from '../jwt/own-jwt.ts';
import { type buildLogout, logoutPaths } from '../logout/logout-endpoints.ts';
import type { buildRegistrationFeature } from '../registration/registration-feature.ts';
import { type ProtectedResource, type ResourceRegistry, toResourceServer } from '../resources.ts';
import { languages } from '../texts/texts.ts';
import { extraClaims, isExchanged } from '../token-exchange/actor.ts';
import { tolerate } from '../tolerances.ts';
import type { Adapters } from './adapter.ts';
import { sessionTtl } from './session-browser.ts';

/** Lifetimes of issued artifacts, in seconds. */
export interface Lifetimes {
  accessTokenSeconds: number;
  codeSeconds: number;
  /** A refresh token that is not used dies after this. */
  refreshTokenSeconds: number;
  /** However often it is refreshed, a consent dies after this (T-045). */
  grantSeconds: number;
  sessionSeconds: number;
  sessionIdleSeconds: number;
  interactionSeconds: number;
  /** Seconds that a device waits for the user to enter its code. */
  deviceCodeSeconds: number;
}

/** Options of the engine's configuration. */
export interface ConfigurationOptions {
  /** The issuer; its scheme decides about cookies. */
  issuer: string;
  keys: KeySet;
  accounts: AccountStore;
  adapters: Adapters;
  box: SealedBox;
  /** True if a client id may be the URL of a metadata document. */
  clientDocuments: boolean;
  resources: ResourceRegistry;
  lifetimes: Lifetimes;
  /** Proofs of the keys that tokens are bound to (RFC 9449). */
  dpop: { /** 32 bytes. */ nonceSecret: Buffer; requireNonce: boolean };
  /** The device flow, with its pages. */
  deviceFlow: ReturnType<typeof buildDeviceFlow>;
  /** True if clients of the operator may act for themselves. */
  clientCredentials: boolean;
  /** Additional members of the metadata document. */
  metadata: Readonly<Record<string, unknown>>;
  /** The logout, with its page. */
  logout: ReturnType<typeof buildLogout>;
  /** Settings of client registration and of its management. */
  registration: ReturnType<typeof buildRegistrationFeature>;
  /** Shows the user an error that cannot be sent to the client. */
  renderError: NonNullable<Configuration['renderError']>;
  /** Epoch seconds. */
  now: () => number;
}

/** Paths of the engine's endpoints below the issuer, those of 2025-03-26 among them (A2-05). */
export const enginePaths = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  introspection: '/introspect',
  jwks: '/jwks',
  device_authorization: devicePaths.authorization,
  code_verification: devicePaths.code,
  pushed_authorization_request: '/par',
  end_session: logoutPaths.page,
} as const;

/** Endpoints that receive authorization requests, whose scopes are checked. */
const requestRoutes = new Set(['authorization', 'device_authorization', 'pushed_authorization_request']);

/** Scopes that belong to no resource. `offline_access` is taken, not needed (A9-03). */
export const identityScopes = ['openid', 'offline_access'] as const;

/** The scopes the engine knows: those of no resource, and those of all there are. */
export function allScopes({ scopes }: Pick<ResourceRegistry, 'scopes'>): string[] {
  return [...identityScopes, ...scopes];
}

/**
 * Returns true if a code is redeemed with a refresh token. MCP clients never ask for `offline_access`; a client that
 * registered the grant type gets the token (A9-03).
 * @param scopes of the code
 */
function mayRefresh(client: Pick<Client, 'grantTypeAllowed'>, scopes: ReadonlySet<string>): boolean {
  return (
    client.grantTypeAllowed('refresh_token') &&
    (scopes.has('offline_access') || tolerate('unaskedRefreshToken', 'no offline_access'))
  );
}

const clientDefaults: Partial<ClientMetadata> = {
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  id_token_signed_response_alg: 'ES256',
};

/** Rejects each request of the engine: its own guard becomes a warning if Node's internals change (T-069). */
const refuseToFetch: NonNullable<Configuration['fetch']> = async () => {
  throw new TypeError('the engine fetches nothing by itself');
};

/**
 * Builds the configuration of oidc-provider. What stands here departs from its defaults for a reason given at each
 * place; field experience with MCP clients is behind most.
 */
export function buildConfiguration(options: ConfigurationOptions): Configuration {
  const { issuer, keys, accounts, resources, lifetimes, renderError, now } = options;
  const secure = issuer.startsWith('https:');

  /** Limits all lifetimes to the end of the consent (T-045). */
  const withinGrant = (ctx: KoaContextWithOIDC, seconds: number): number =>
    secondsWithin(ctx.oidc.entities.Grant?.exp, seconds, now());

  return {
    adapter: options.adapters,
    formats: { customizers: { jwt: createJwtRecorder(options.box) } },
    fetch: refuseToFetch,
    discovery: {
      ...options.metadata,
      prompt_values_supported: supportedPrompts,
      ui_locales_supported: languages.map(({ texts }) => texts.language),
      ...(options.clientDocuments ? { client_id_metadata_document_supported: true } : {}),
    },
    jwks: { keys: keys.signing as JWK[] },
    cookies: {
      keys: keys.cookies,
      names: {
        session: cookieName(issuer, 'session', 'host'),
        // Each is for the path of one login alone, which no other server has.
        interaction: secure ? '__Secure-gatehouse-interaction' : 'gatehouse-interaction',
        resume: secure ? '__Secure-gatehouse-resume' : 'gatehouse-resume',
      },
      long: { httpOnly: true, sameSite: 'lax', secure, path: '/' },
      short: { httpOnly: true, sameSite: 'lax', secure },
    },
    routes: { ...enginePaths },
    scopes: allScopes(resources),
    responseTypes: ['code'],
    clientAuthMethods: [...supportedAuthMethods],
    clientDefaults,
    enabledJWA: {
      idTokenSigningAlgValues: ['ES256'],
      clientAuthSigningAlgValues: [...privateKeyAlgorithms],
      dPoPSigningAlgValues: [...proofAlgorithms],
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    enableHttpPostMethods: false,

    issueRefreshToken: (_ctx, client, code) => mayRefresh(client, code.scopes),
    rotateRefreshToken: true,
    expiresWithSession: () => false,

    // Each authorization gets a consent and a grant of its own: two installs of one client never share a token
    // family, and no client rides on an earlier approval (T-025, AS-13).
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId ? ctx.oidc.provider.Grant.find(grantId) : undefined;
    },

    ttl: {
      AccessToken: (ctx, token) =>
        withinGrant(ctx, token.resourceServer?.accessTokenTTL ?? lifetimes.accessTokenSeconds),
      ClientCredentials: lifetimes.accessTokenSeconds,
      AuthorizationCode: lifetimes.codeSeconds,
      Grant: lifetimes.grantSeconds,
      IdToken: lifetimes.accessTokenSeconds,
      Interaction: lifetimes.interactionSeconds,
      DeviceCode: lifetimes.deviceCodeSeconds,
      // Nobody is logged in yet where a page only readied a form.
      Session: (_ctx, session) =>
        session.accountId ? sessionTtl(lifetimes, session.loginTs, now()) : lifetimes.interactionSeconds,
      // Renewed by each rotation.
      RefreshToken: (ctx) => withinGrant(ctx, lifetimes.refreshTokenSeconds),
    },

    extraTokenClaims: (ctx) => extraClaims(ctx),

    findAccount: async (_ctx, id): Promise<Account | undefined> => {
      const account = await accounts.find(id);
      if (account?.disabledAt !== undefined) return undefined;
      return account && { accountId: account.id, claims: async () => ({ sub: account.id }) };
    },

    clientBasedCORS: (_ctx, _origin, client) => client.clientAuthMethod === 'none',
    interactions: {
      url: (_ctx, interaction) => `${issuer}/interaction/${interaction.uid}`,
      policy: buildInteractionPolicy(),
    },
    renderError,

    features: {
      devInteractions: { enabled: false },
      deviceFlow: options.deviceFlow,
      userinfo: { enabled: false },
      dPoP: {
        enabled: true,
        nonceSecret: options.dpop.nonceSecret,
        requireNonce: () => options.dpop.requireNonce,
      },
      pushedAuthorizationRequests: { enabled: true },
      rpInitiatedLogout: options.logout,
      ...options.registration,
      // A token of somebody else is treated like one that does not exist (T-051).
      clientCredentials: { enabled: options.clientCredentials },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId && !isExchanged(token),
      },
      introspection: {
        enabled: resources.hasIntrospection,
        allowedPolicy: (_ctx, { clientId, clientAuthMethod: method = 'none' }, token) =>
          token.kind !== 'RefreshToken' && mayIntrospect({ clientId, method }, token.aud, resources),
      },
      resourceIndicators: {
        enabled: true,
        // 2025-03-26 clients send no `resource`; asked to choose among several, the default is ours (A7-06).
        defaultResource: () => resources.default.resource,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, indicator, client) => {
          const found = resources.find(indicator);
          const resource = found?.choices && ctx.oidc.route === 'token' ? undefined : found;
          const requested = requestRoutes.has(ctx.oidc.route)
            ? (ctx.oidc.params?.scope as string | undefined)
            : scopeForItself(ctx, client, resource);
          return toResourceServer(resource, requested, identityScopes, lifetimes.accessTokenSeconds);
        },
      },
    },
  };
}

/**
 * Builds the policy that selects the pages of an authorization request: a login if there is none or if the client asks
 * for one, and a consent each time, whatever was agreed before. The engine's own rule asks native clients only, and
 * responds to `prompt=none` with `interaction_required` although the standard has `consent_required`.
 * @returns a policy for oidc-provider
 * @see OpenID Connect Core 1.0 section 3.1.2.6; RFC 8252 section 8.6 (T-012, T-025)
 */
function buildInteractionPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const consent = policy.get('consent');
  if (!consent) throw new TypeError('the engine has no consent prompt');
  consent.checks.remove('native_client_prompt');
  consent.checks.add(
    new interactionPolicy.Check(
      'each_authorization',
      'each authorization needs a consent of its own',
      'consent_required',
      (ctx) => !ctx.oidc.result?.consent,
    ),
    0,
  );
  return policy;
}

/**
 * Limits a lifetime to the end of the consent that it depends on (T-045).
 * @param grantEnds end of the consent, epoch seconds; undefined if there is none
 * @param seconds lifetime without that limit
 * @param now epoch seconds
 * @returns seconds, at least 1
 */
export function secondsWithin(grantEnds: number | undefined, seconds: number, now: number): number {
  return grantEnds === undefined ? seconds : Math.max(1, Math.min(seconds, grantEnds - now));
}

/** The grant by which a client acts for itself (RFC 6749 section 4.4). */
export const clientCredentialsGrant = 'client_credentials';

/**
 * Returns the scopes of a token request by which a client acts for itself, before the engine creates the grant. A
 * client may ask for fewer scopes than the operator allows, and gets all of them if it asks for none (RFC 6749 section
 * 3.3). The engine, which resolves the resource first, would then grant none. Scopes that are not allowed are dropped
 * as long as one remains: MCP clients ask for every scope that the resource names. The engine rejects the rest.
 * @returns undefined for every other request
 */
function scopeForItself(
  { oidc }: KoaContextWithOIDC,
  client: Client,
  resource: ProtectedResource | undefined,
): string | undefined {
  const { params } = oidc;
  if (oidc.route !== 'token' || params?.grant_type !== clientCredentialsGrant) return undefined;
  const asked = params.scope as string | undefined;
  if (!resource) return asked;
  const allowed = parseScope(client.scope).filter((scope) => resource.scopes[scope] !== undefined);
  const given = asked === undefined ? allowed : parseScope(asked).filter((scope) => allowed.includes(scope));
  if (asked === undefined || given.length > 0) params.scope = formatScope(given);
  return params.scope as string | undefined;
}
