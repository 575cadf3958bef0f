import type { Context } from 'koa';
import type { SealedBox } from '../crypto/sealed-box.ts';
import { wellKnown } from '../oauth/well-known.ts';
import type { ArtifactStore } from '../storage/artifacts.ts';
import type { InvitationStore } from '../storage/clients.ts';
import type { UpstreamStore } from '../storage/upstreams.ts';
import type { IssuedAccessTokens } from './access-tokens.ts';
import type { AuditLog } from './audit.ts';
import { awaitBondOfRefresh, type LinkStanding } from './bonds/link-standing.ts';
import { createLogoutTokenEndpoint, type TakeLogoutToken } from './bonds/logout-endpoint.ts';
import { deviceGrantType } from './client-metadata.ts';
import { createDeviceEndpoints, createDevicePolling } from './device/device-endpoints.ts';
import { type EndpointLimits, rejectAsPage } from './endpoint-limits/endpoint-limits.ts';
import type { createTokenLimit, RefreshLoops } from './endpoint-limits/token-limit.ts';
import {
  checkResponseParameters,
  createAuthorizationEndpoint,
  prepareAuthorization,
  preparePostedAuthorization,
  showErrorBeforeRedirect,
} from './endpoints/authorization-endpoint.ts';
import { answerRepeatedUse, checkClientAssertion, usedOnceKind } from './endpoints/client-assertion.ts';
import {
  auditTokenRefusal,
  type Endpoint,
  type EndpointFamily,
  nameScheme,
  neverStore,
  refuseOpaqueOrigin,
  refuseWith400,
  type Step,
} from './endpoints/endpoint-guards.ts';
import { onlyFor, takeEmptyPassword } from './endpoints/form-body.ts';
import { createIntrospectionEndpoint } from './endpoints/introspection-endpoint.ts';
import {
  completeMetadata,
  concealRegistration,
  keepDocument,
  publishForAMoment,
  withdrawDeviceFlow,
} from './endpoints/metadata-documents.ts';
import {
  createRepeatedAnswers,
  ignoreHeadAndPrefetch,
  type RequestMark,
} from './endpoints/repeated-answers.ts';
import { createRevocationEndpoint } from './endpoints/revocation-endpoint.ts';
import { createTokenEndpoint, type TokenEndpointOptions } from './endpoints/token-endpoint.ts';
import { enginePaths } from './engine/configuration.ts';
import type { FlowLogins } from './engine/flow-logins.ts';
import { commitWrites } from './engine/write-set.ts';
import type { EndpointLimit, GuessLimiter } from './limits.ts';
import { createLogoutEndpoints } from './logout/logout-endpoints.ts';
import type { RegistrationPolicy } from './registration/admission.ts';
import { createRegistrationEndpoints } from './registration/registration-endpoint.ts';
import type { createSealedClientIds } from './registration/sealed-client-ids.ts';
import type { ResourceRegistry } from './resources.ts';

/** Options of the endpoints. */
export interface EndpointTableOptions {
  issuer: string;
  policy: RegistrationPolicy;
  /** Redirect schemes that the operator allows beside those of known apps. */
  redirectSchemes: readonly string[];
  /** Makes ids that are a registration each; undefined if registrations are stored. */
  givenIds: ReturnType<typeof createSealedClientIds> | undefined;
  artifacts: ArtifactStore;
  invitations: InvitationStore;
  box: SealedBox;
  /** The upstream links that grants depend on, and their state. */
  upstreams: Pick<UpstreamStore, 'bondOfArtifact'>;
  linkStanding: LinkStanding;
  /** Takes logout tokens of upstreams. */
  takeLogoutToken: TakeLogoutToken;
  resources: ResourceRegistry;
  /** Access tokens as they were issued, and as they are honoured. */
  issuedTokens: IssuedAccessTokens;
  accessTokens: IssuedAccessTokens;
  audit: AuditLog;
  limitOf: EndpointLimits;
  /** Callback URL of an upstream, by its name. */
  upstreamCallback: (name: string) => Step;
  tokenLimit: ReturnType<typeof createTokenLimit>;
  refreshLoops: RefreshLoops;
  refreshGraceSeconds: number;
  repeatFromOtherAddress: TokenEndpointOptions['repeatFromOtherAddress'];
  sourceKeys: readonly string[];
  /** True if a device without a browser may log in with a code (RFC 8628). */
  deviceLogin: boolean;
  /** Wrong device codes of an address or a browser. */
  wrongDeviceCodes: GuessLimiter;
  /** The browser's login session, as its cookie has it. */
  sessionOf: (ctx: Context) => string | undefined;
  /** Keeps a login within one request. */
  flowLogins: FlowLogins;
  /** Deletes the login cookie of the account pages, if they have their own. */
  forgetLogin: (ctx: Context) => void;
  /** Runs before the engine resumes an interaction. */
  requirePass: Step;
  /** The pass and the browser of a request that takes up an interaction. */
  resumedBy: RequestMark;
  /** Name of that cookie. */
  resumeCookie: string;
  /** Passes a request to the engine. */
  at: (path: string) => Step;
  /** Epoch seconds. */
  now: () => number;
}

/** Every endpoint of the authorization server but the pages. */
export interface EndpointTable {
  /** By path below the issuer. */
  endpoints: Readonly<Record<string, Endpoint>>;
  /** Those at paths of which a part varies. */
  families: readonly EndpointFamily[];
}

/**
 * Creates the endpoints: for each its methods, its limits, and every step before the engine, from first to last.
 */
export function createEndpointTable(options: EndpointTableOptions): EndpointTable {
  const {
    issuer,
    policy,
    redirectSchemes,
    givenIds,
    artifacts,
    invitations,
    box,
    resources,
    accessTokens,
    audit,
  } = options;
  const { issuedTokens, upstreams, linkStanding, takeLogoutToken } = options;
  const { repeatFromOtherAddress, sourceKeys } = options;
  const { limitOf, tokenLimit, refreshGraceSeconds, deviceLogin, wrongDeviceCodes, sessionOf, at, now } =
    options;
  const { flowLogins, requirePass } = options;

  const authorize = createAuthorizationEndpoint(artifacts);
  const resumeOnce = createRepeatedAnswers({ artifacts, box, now }, options.resumedBy, options.resumeCookie);
  const inOneCommit: Step = async (ctx, next) => {
    const { result, writes } = await commitWrites(artifacts, async () => {
      await next();
      return ctx.status < 500;
    });
    if (!result.committed && result.conflict.reason === 'present' && result.conflict.kind === usedOnceKind)
      answerRepeatedUse(ctx, result.conflict.id, writes);
  };
  const registration = createRegistrationEndpoints({
    policy,
    redirectSchemes,
    artifacts,
    invitations,
    sealedIds: givenIds,
    audit,
    now,
  });
  const requestLimits = (what: string) =>
    [limitOf.authorizations(what), limitOf.failures(what)] as const satisfies EndpointLimit[];
  const beginnings = (what: string) => limitOf.authorizations(what, rejectAsPage);

  /** In front of endpoints that take an authorization request as a form. */
  const requestGuards: readonly Step[] = [
    nameScheme(issuer),
    takeEmptyPassword,
    preparePostedAuthorization(resources),
    checkClientAssertion(issuer, now),
    inOneCommit,
  ];
  const device = deviceLogin
    ? createDeviceEndpoints({
        artifacts,
        audit,
        origin: new URL(issuer).origin,
        wrongCodes: wrongDeviceCodes,
        sessionOf,
        guards: requestGuards,
        limits: {
          requests: requestLimits('device authorizations'),
          beginnings: beginnings('device logins'),
          pages: limitOf.pages,
        },
        inOneCommit,
        flowLogins,
        requirePass,
        resumeOnce,
        at,
      })
    : undefined;
  const metadataAt = (path: string): Step[] => [
    publishForAMoment,
    keepDocument(() => resources.scopes),
    completeMetadata,
    ...(policy === 'off' ? [concealRegistration] : []),
    ...(device ? [] : [withdrawDeviceFlow]),
    at(path),
  ];

  /** Every endpoint, with every step before the engine, from first to last. */
  const endpoints: Readonly<Record<string, Endpoint>> = {
    [wellKnown.authorizationServer]: {
      methods: ['GET'],
      limits: [limitOf.requests],
      steps: metadataAt(wellKnown.authorizationServer),
    },
    [wellKnown.openidConfiguration]: {
      methods: ['GET'],
      limits: [limitOf.requests],
      steps: metadataAt(wellKnown.openidConfiguration),
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
        flowLogins.ignoreEarlier,
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
        takeEmptyPassword,
        auditTokenRefusal(audit),
        refuseWith400,
        checkClientAssertion(issuer, now),
        onlyFor('refresh_token', awaitBondOfRefresh({ upstreams, standing: linkStanding })),
        createTokenEndpoint({
          artifacts,
          box,
          resources,
          audit,
          now,
          refreshGraceSeconds,
          repeatFromOtherAddress,
          sourceKeys,
          tokenLimit,
          refreshLoops: options.refreshLoops,
        }),
        onlyFor(deviceGrantType, createDevicePolling({ artifacts, box })),
        at(enginePaths.token),
      ],
    },
    ...device?.endpoints,
    ...createLogoutEndpoints({
      audit,
      issuer,
      limits: { beginnings: beginnings('logouts'), pages: limitOf.pages },
      inOneCommit,
      ignoreEarlier: flowLogins.ignoreEarlier,
      forgetLogin: options.forgetLogin,
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
        takeEmptyPassword,
        checkClientAssertion(issuer, now),
        createRevocationEndpoint(artifacts, issuedTokens, audit),
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
          takeEmptyPassword,
          checkClientAssertion(issuer, now),
          inOneCommit,
          createIntrospectionEndpoint({ issuer, accessTokens, resources, now }),
          at(enginePaths.introspection),
        ],
      },
    }),
  };
  /** Endpoints at paths with a variable part: the engine's resumption of a request, and RFC 7592. */
  const families: readonly EndpointFamily[] = [
    {
      path: '/authorize/<uid>',
      pattern: /^\/authorize\/[\w-]+$/,
      methods: ['GET'],
      limits: [limitOf.pages],
      steps: (path) => [
        ignoreHeadAndPrefetch,
        checkResponseParameters,
        resumeOnce,
        requirePass,
        authorize,
        flowLogins.endWithAnswer,
        at(path),
      ],
    },
    {
      path: '/register/<client>',
      pattern: /^\/register\/[^/]+$/,
      methods: ['GET', 'PUT', 'DELETE'],
      limits: [limitOf.registrations],
      steps: (path) => [...registration.manage, at(path)],
    },
    {
      path: '/upstream/<name>/callback',
      pattern: /^\/upstream\/[a-z0-9-]{1,32}\/callback$/,
      methods: ['GET'],
      limits: [limitOf.pages],
      steps: (path) => [
        ignoreHeadAndPrefetch,
        neverStore,
        options.upstreamCallback(path.split('/')[2] ?? ''),
      ],
    },
    ...(device ? [device.resumption] : []),
    createLogoutTokenEndpoint(takeLogoutToken, limitOf),
  ];
  return { endpoints, families };
}
