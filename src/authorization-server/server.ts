import type { Context, Next } from 'koa';
import compose from 'koa-compose';
import type { KeySet } from '../crypto/keys.ts';
import { createSealedBox } from '../crypto/sealed-box.ts';
import { createTextSeal } from '../crypto/text-seal.ts';
import { isLoopbackAddress, isPublicAddress } from '../net/address.ts';
import { createGuardedFetch } from '../net/guarded-fetch.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { Storage } from '../storage/storage.ts';
import { createAccessTokenSource, type IssuedAccessTokens } from './access-tokens.ts';
import { createAccountServer } from './account/account-server.ts';
import type { McpConnections } from './account/mcp-connections.ts';
import { createAuditLog } from './audit.ts';
import type { AuditTrail } from './audit-trail.ts';
import { createWaysToLogIn } from './authentication/ways-to-log-in.ts';
import type { DocumentLimits } from './client-documents/budgets.ts';
import { createClientDocuments } from './client-documents/client-documents.ts';
import { createDocumentLookup } from './client-documents/engine-feature.ts';
import { createHostPolicy, type HostPolicyOptions } from './client-documents/host-policy.ts';
import { createClientKeys } from './client-keys/client-keys.ts';
import { createDeviceEndpoints, devicePaths, withdrawDeviceFlow } from './device/device-endpoints.ts';
import { createDevicePolling } from './device/device-polling.ts';
import { buildDeviceFlow } from './device/engine-feature.ts';
import { deriveNonceSecret } from './dpop-nonce-secret.ts';
import { exposeWait, tellPerson } from './endpoint-limits/answers.ts';
import type { EndpointLimit, LimitName } from './endpoint-limits/endpoint-limit.ts';
import { createEndpointLimits } from './endpoint-limits/endpoint-limits.ts';
import { createSharedAddresses } from './endpoint-limits/shared-addresses.ts';
import { createTokenLimit } from './endpoint-limits/token-limit.ts';
import {
  checkResponseParameters,
  createAuthorizationEndpoint,
  showErrorBeforeRedirect,
} from './endpoints/authorization-endpoint.ts';
import { prepareAuthorization, preparePostedAuthorization } from './endpoints/authorization-request.ts';
import { answerRepeatedAssertion, checkClientAssertion, isAsserting } from './endpoints/client-assertion.ts';
import type { Endpoint, EndpointFamily } from './endpoints/endpoint.ts';
import { auditTokenRefusal, completeMetadata, publishForAMoment } from './endpoints/endpoint-answers.ts';
import { nameScheme, neverStore, refuseOpaqueOrigin, type Step } from './endpoints/endpoint-guards.ts';
import { createErrorRenderer } from './endpoints/error-page.ts';
import { createIntrospectionEndpoint } from './endpoints/introspection-endpoint.ts';
import { answerWithOAuthError } from './endpoints/oauth-answer.ts';
import { createRevocationEndpoint } from './endpoints/revocation-endpoint.ts';
import { createTokenEndpoint } from './endpoints/token-endpoint.ts';
import { buildConfiguration, enginePaths, identityScopes, type Lifetimes } from './engine/configuration.ts';
import { createEngine } from './engine/engine.ts';
import { commitWrites } from './engine/write-set.ts';
import { createAllowedBefore } from './interactions/allowed-before.ts';
import { createInteractions } from './interactions/routes.ts';
import type { Limit } from './limits.ts';
import type { LoginLimits } from './login.ts';
import { buildLogout } from './logout/engine-feature.ts';
import { createLogoutEndpoints, logoutPaths } from './logout/logout-endpoints.ts';
import { createStanding } from './operator-clients/standing.ts';
import { createOwnGrants, describeOwnGrants, type OwnGrantRules } from './own-grants.ts';
import type { RegistrationPolicy } from './registration/admission.ts';
import {
  concealRegistration,
  createRegistrationEndpoints,
  refuseWith400,
} from './registration/registration-endpoint.ts';
import { buildRegistrationFeature } from './registration/registration-feature.ts';
import { createSealedClientIds } from './registration/sealed-client-ids.ts';
import { createResourceRegistry, type ProtectedResource, type ToolsOf } from './resources.ts';
import { noteTolerated } from './tolerances/note-tolerated.ts';
import type { Tolerances } from './tolerances/tolerances.ts';
import { createUsedProofs, type UsedProofs } from './used-proofs.ts';

/** What an authorization server is made of. */
export interface AuthorizationServerOptions {
  /** Issuer identifier: the public URL, without a trailing slash. */
  issuer: string;
  storage: Storage;
  keys: KeySet;
  resources: readonly ProtectedResource[];
  /** Names the tools that scopes open, for the consent page. */
  toolsOf: ToolsOf;
  lifetimes: Lifetimes;
  /** How long a used refresh token still gives the answer it gave first, in seconds; 0 for never. */
  refreshGraceSeconds: number;
  /** The quirks of clients that are let through. */
  tolerances: Tolerances;
  /** Whether each DPoP proof needs a nonce of ours, however recent it is. */
  requireDpopNonce: boolean;
  /** Whose client ID metadata documents are taken; nobody's where this is undefined. */
  clientDocuments?: HostPolicyOptions & {
    /** Also fetches from this very machine: for development. */
    dangerouslyFromLoopback: boolean;
  };
  /** Whether a device without a browser may log in with a code (RFC 8628). */
  deviceLogin: boolean;
  /** Whether clients of the operator may act for themselves (RFC 6749 section 4.4). */
  clientCredentials: boolean;
  /** Whom the operator lets in by assertions, and who may exchange tokens. */
  ownGrants: OwnGrantRules;
  /** Whether keys of clients are fetched from where they say (`jwks_uri`); those they bring count anyhow. Undefined for no. */
  clientKeys?: {
    /** Also fetches from this very machine: for development. */
    dangerouslyFromLoopback: boolean;
  };
  /** The MCP sessions in the same process, for the account pages. */
  mcpConnections: McpConnections;
  registration: {
    policy: RegistrationPolicy;
    /** Whether a client gets an id that is its registration, and is stored by its first consent only. */
    sealedIds: boolean;
  };
  /** How often an address may register clients, begin authorizations, fail at the token endpoint, log in wrongly, and have documents fetched. */
  limits: {
    registrations: Limit;
    authorizations: Limit;
    tokenFailures: Limit;
    /** Tokens issued to a client for an account. */
    tokensPerGrant: Limit;
    /** Requests of an address to endpoints that have no tighter limit. */
    requests: Limit;
    /** Addresses and ranges behind which many people stand. */
    sharedAddresses: readonly string[];
    logins: LoginLimits;
    /** Wrong device codes of an address or a browser. */
    deviceCodes: Limit;
    /** Wrong one-time codes of an account, and reset links of an address that do not work. */
    codes: Limit;
    resets: Limit;
    documents: DocumentLimits;
  };
  logger: Logger;
  auditTrail: AuditTrail;
  /** Counts an event of the audit log. */
  countEvent: (event: string) => void;
  /** Counts a request that a limit refused. */
  countLimited: (limit: LimitName) => void;
  /** Epoch seconds. */
  now: () => number;
}

/** The doors of the authorization server. Paths are those below the issuer. */
export interface AuthorizationServer {
  /** Serves a request to one of our paths; calls `next` for any other. */
  middleware: (ctx: Context, next: Next) => Promise<void>;
  /** Access tokens, for the resource server in the same process. */
  accessTokens: IssuedAccessTokens;
  /** Proofs that were used at the resource server, for every process on the database. */
  usedProofs: UsedProofs;
  /** The limits in front of every endpoint, by its path below the issuer; `<…>` stands for a part that varies. */
  endpointLimits: ReadonlyMap<string, readonly LimitName[]>;
}

/** Bounds of a fetch of a client document (T-071). */
const documentBounds = { maxBytes: 5 * 1024, timeoutMs: 2_500, maxConcurrent: 32 } as const;

/** Bounds of a fetch of a client's keys (T-057). */
const keyBounds = { maxBytes: 64 * 1024, timeoutMs: 2_500, maxConcurrent: 32 } as const;

/**
 * Creates the authorization server: oidc-provider as the engine, and around it what MCP clients, attackers and
 * crashes ask of it.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { issuer, storage, keys, lifetimes, tolerances, limits, logger, now } = options;
  const refreshGraceSeconds = tolerances.isOn('repeatedRefresh') ? options.refreshGraceSeconds : 0;
  const { artifacts, accounts, clients } = storage;
  const box = createSealedBox(keys.sealing);
  const resources = createResourceRegistry(options.resources);
  const accessTokens = createAccessTokenSource(artifacts, box, { issuer, signing: keys.signing });
  const audit = createAuditLog(logger, options.countEvent, options.auditTrail);
  const sealedIds = createSealedClientIds(createTextSeal(box), now);
  const givenIds = options.registration.sealedIds ? sealedIds : undefined;
  const { policy } = options.registration;
  const renderError = createErrorRenderer();
  const documents =
    options.clientDocuments &&
    createClientDocuments({
      store: storage.clientDocuments,
      box,
      fetch: createGuardedFetch({ ...documentBounds, mayConnect: reach(options.clientDocuments) }),
      isHostAllowed: createHostPolicy(options.clientDocuments),
      limits: limits.documents,
      now,
    });
  const deviceFlow = buildDeviceFlow(
    {
      code: `${issuer}${devicePaths.code}`,
      done: `${issuer}${devicePaths.done}`,
      denied: `${issuer}${devicePaths.denied}`,
    },
    resources,
    now,
  );
  const createKeySets = () =>
    createClientKeys({
      fetch:
        options.clientKeys && createGuardedFetch({ ...keyBounds, mayConnect: reach(options.clientKeys) }),
      limits: limits.documents,
      now,
    });
  const adapter = {
    artifacts,
    clients,
    sealedIds,
    newClientStatus: policy === 'approval' ? ('pending' as const) : ('approved' as const),
    clientSources: {
      findDocument: documents && createDocumentLookup(documents, audit),
      keys: createKeySets(),
    },
    box,
    now,
    refreshGraceSeconds,
    userCodeKeys: keys.cookies,
    interactionSeconds: lifetimes.interactionSeconds,
  };
  const configure = () =>
    buildConfiguration({
      issuer,
      keys,
      accounts,
      resources,
      lifetimes,
      registration: buildRegistrationFeature(givenIds),
      dpop: { nonceSecret: deriveNonceSecret(keys), requireNonce: options.requireDpopNonce },
      deviceFlow,
      clientCredentials: options.clientCredentials,
      metadata: describeOwnGrants(options.ownGrants),
      logout: buildLogout(`${issuer}${logoutPaths.confirm}`, accounts),
      renderError,
      now,
      adapter,
    });
  const grants = createOwnGrants(options.ownGrants, {
    issuer,
    storage,
    keys: createKeySets(),
    resources,
    accessTokens,
    accessTokenSeconds: lifetimes.accessTokenSeconds,
    audit,
    now,
  });
  const engine = createEngine({ issuer, configure, grants, keys, logger });
  const at =
    (path: string): Step =>
    (ctx) =>
      engine.serve(ctx, path);

  const authorize = createAuthorizationEndpoint(artifacts);
  const inOneCommit: Step = async (ctx, next) => {
    const { result } = await commitWrites(artifacts, async () => {
      await next();
      return ctx.status < 500;
    });
    if (!result.committed && isAsserting(ctx)) answerRepeatedAssertion(ctx);
  };
  const registration = createRegistrationEndpoints({
    policy,
    artifacts,
    invitations: storage.invitations,
    sealedIds: givenIds,
    audit,
    now,
  });
  const limitOf = createEndpointLimits({
    limits,
    isShared: createSharedAddresses(limits.sharedAddresses),
    audit,
    countLimited: options.countLimited,
  });
  const tokenLimit = createTokenLimit(limits.tokensPerGrant, audit, options.countLimited);
  const requestLimits = (what: string) =>
    [limitOf.authorizations(what), limitOf.failures(what)] as const satisfies EndpointLimit[];
  const beginnings = (what: string) => limitOf.authorizations(what, tellPerson);
  const publishMetadata = [
    publishForAMoment,
    completeMetadata,
    ...(policy === 'off' ? [concealRegistration] : []),
  ];

  /** In front of endpoints that take an authorization request as a form. */
  const requestGuards: readonly Step[] = [
    nameScheme(issuer),
    preparePostedAuthorization(resources),
    checkClientAssertion(issuer, now),
    inOneCommit,
  ];
  const device = options.deviceLogin
    ? createDeviceEndpoints({
        artifacts,
        audit,
        origin: new URL(issuer).origin,
        wrongCodes: limits.deviceCodes,
        sessionOf: (ctx) => ctx.cookies.get(engine.provider.cookieName('session'), { signed: false }),
        guards: requestGuards,
        limits: {
          requests: requestLimits('device authorizations'),
          beginnings: beginnings('device logins'),
          pages: limitOf.pages,
        },
        inOneCommit,
        at,
      })
    : undefined;
  const withdrawn = device ? [] : [withdrawDeviceFlow];

  /** Every endpoint, with every check of it from first to last. */
  const endpoints: Readonly<Record<string, Endpoint>> = {
    [wellKnown.authorizationServer]: {
      methods: ['GET'],
      limits: [limitOf.requests],
      steps: [...publishMetadata, ...withdrawn, at(wellKnown.authorizationServer)],
    },
    [wellKnown.openidConfiguration]: {
      methods: ['GET'],
      limits: [limitOf.requests],
      steps: [...publishMetadata, ...withdrawn, at(wellKnown.openidConfiguration)],
    },
    [enginePaths.jwks]: {
      methods: ['GET'],
      limits: [limitOf.requests],
      steps: [publishForAMoment, at(enginePaths.jwks)],
    },
    [enginePaths.authorization]: {
      methods: ['GET'],
      limits: [beginnings('authorization requests')],
      steps: [
        prepareAuthorization(resources),
        checkResponseParameters,
        showErrorBeforeRedirect,
        authorize,
        at(enginePaths.authorization),
      ],
    },
    [enginePaths.token]: {
      methods: ['POST'],
      limits: [limitOf.failures('token requests')],
      steps: [
        refuseOpaqueOrigin,
        nameScheme(issuer),
        auditTokenRefusal(audit),
        refuseWith400,
        checkClientAssertion(issuer, now),
        createTokenEndpoint({ artifacts, box, resources, audit, now, refreshGraceSeconds, tokenLimit }),
        createDevicePolling({ artifacts, box }),
        at(enginePaths.token),
      ],
    },
    ...device?.endpoints,
    ...createLogoutEndpoints({
      audit,
      issuer,
      limits: { beginnings: beginnings('logouts'), pages: limitOf.pages },
      inOneCommit,
      at,
    }),
    [enginePaths.pushed_authorization_request]: {
      methods: ['POST'],
      limits: requestLimits('pushed authorization requests'),
      steps: [refuseOpaqueOrigin, neverStore, ...requestGuards, at(enginePaths.pushed_authorization_request)],
    },
    [enginePaths.registration]: {
      methods: ['POST'],
      limits: [limitOf.registrations],
      steps: [...registration.register, at(enginePaths.registration)],
    },
    [enginePaths.revocation]: {
      methods: ['POST'],
      limits: [limitOf.requests, limitOf.failures('revocations')],
      steps: [
        refuseOpaqueOrigin,
        neverStore,
        nameScheme(issuer),
        checkClientAssertion(issuer, now),
        createRevocationEndpoint(artifacts, accessTokens, audit),
        at(enginePaths.revocation),
      ],
    },
    ...(resources.hasIntrospection && {
      [enginePaths.introspection]: {
        methods: ['POST'],
        limits: [limitOf.failures('introspections')],
        steps: [
          refuseOpaqueOrigin,
          neverStore,
          nameScheme(issuer),
          checkClientAssertion(issuer, now),
          inOneCommit,
          createIntrospectionEndpoint({ issuer, accessTokens, resources, now }),
          at(enginePaths.introspection),
        ],
      },
    }),
  };
  const waysToLogIn = createWaysToLogIn({ issuer, storage, box, cookieKeys: keys.cookies, limits, now });
  const account = createAccountServer({
    issuer,
    provider: engine.provider,
    storage,
    box,
    resources,
    documents,
    lifetimes,
    waysToLogIn,
    mcpConnections: options.mcpConnections,
    cookieKeys: keys.cookies,
    limits,
    audit,
    now,
  });
  const interactions = createInteractions({
    provider: engine.provider,
    accounts,
    artifacts,
    resources,
    identityScopes,
    standingOf: createStanding(clients, box),
    audit,
    ...waysToLogIn,
    csrfKeys: keys.cookies,
    origin: new URL(issuer).origin,
    pageUrl: (uid) => `${issuer}/interaction/${uid}`,
    allowedBefore: createAllowedBefore(artifacts, box, now),
    toolsOf: options.toolsOf,
    lifetimes,
    now,
  });
  /** Endpoints at paths of which a part varies: where the engine takes a request up again, and RFC 7592. */
  const families: readonly EndpointFamily[] = [
    {
      path: '/authorize/<uid>',
      pattern: /^\/authorize\/[\w-]+$/,
      methods: ['GET'],
      limits: [limitOf.pages],
      steps: (path) => [checkResponseParameters, authorize, at(path)],
    },
    {
      path: '/register/<client>',
      pattern: /^\/register\/[^/]+$/,
      methods: ['GET', 'PUT', 'DELETE'],
      limits: [limitOf.registrations],
      steps: (path) => [...registration.manage, at(path)],
    },
    ...(device ? [device.resumption] : []),
  ];
  const findEndpoint = (path: string): Endpoint | undefined => {
    if (Object.hasOwn(endpoints, path)) return endpoints[path];
    const family = families.find(({ pattern }) => pattern.test(path));
    return family && { ...family, steps: family.steps(path) };
  };
  /** Folders of pages, which look at methods themselves. */
  const folders = [
    { path: '/account', limits: [limitOf.pages], serve: account },
    { path: '/interaction', limits: [limitOf.pages], serve: interactions },
  ];
  const base = pathOf(issuer);

  return {
    accessTokens,
    usedProofs: createUsedProofs(artifacts),
    endpointLimits: new Map(
      [
        ...Object.entries(endpoints),
        ...[...families, ...folders].map((each) => [each.path, each] as const),
      ].map(([path, { limits: inFront }]) => [path, inFront.map(({ name }) => name)]),
    ),
    async middleware(ctx, next) {
      if (ctx.path !== base && !ctx.path.startsWith(`${base}/`)) return next();
      const path = ctx.path.slice(base.length);
      const folder = folders.find((each) => path === each.path || path.startsWith(`${each.path}/`));
      if (folder)
        return compose([
          ...stepsOf(folder.limits),
          () => folder.serve(ctx, path.slice(folder.path.length + 1)),
        ])(ctx);
      const endpoint = findEndpoint(path);
      if (!endpoint) return next();
      if (ctx.method === 'OPTIONS') return compose([...preflightSteps(endpoint), at(path)])(ctx);
      if (endpoint.methods.includes(ctx.method === 'HEAD' ? 'GET' : ctx.method))
        return noteTolerated(ctx, tolerances, () =>
          compose([exposeWait, ...stepsOf(endpoint.limits), ...endpoint.steps])(ctx),
        );
      ctx.set('Allow', [...endpoint.methods, 'OPTIONS'].join(', '));
      answerWithOAuthError(ctx, 405, 'invalid_request', `use ${endpoint.methods.join(' or ')} here`);
    },
  };
}

/** Where documents and keys may be fetched from. */
function reach({ dangerouslyFromLoopback }: { dangerouslyFromLoopback: boolean }) {
  return (address: string): boolean =>
    isPublicAddress(address) || (dangerouslyFromLoopback && isLoopbackAddress(address));
}

const stepsOf = (limits: readonly EndpointLimit[]): Step[] => limits.map(({ step }) => step);

/** What a page is told before it may ask: pages that may not ask at all are told so. */
function preflightSteps({ steps }: Endpoint): Step[] {
  return steps.filter((step) => step === refuseOpaqueOrigin);
}
