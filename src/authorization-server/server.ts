import { createSealedBox, createTextSeal } from '../crypto/sealed-box.ts';
import { isLoopbackAddress, isPublicAddress } from '../net/address.ts';
import { createGuardedFetch } from '../net/guarded-fetch.ts';
import { createAccessTokenSource, type IssuedAccessTokens } from './access-tokens.ts';
import { createAccountServer } from './account/account-server.ts';
import { createOwnSessions } from './account/own-session.ts';
import { createAuditLog } from './audit.ts';
import { createWaysToLogIn } from './authentication/ways-to-log-in.ts';
import { honourBonds } from './bonds/link-standing.ts';
import { describeCallers } from './caller-details.ts';
import { createClientDocuments } from './client-documents/client-documents.ts';
import { createDocumentLookup } from './client-documents/engine-feature.ts';
import { canFetchDocuments, createHostPolicy } from './client-documents/host-policy.ts';
import { createClientKeys } from './client-keys/client-keys.ts';
import { devicePaths } from './device/device-endpoints.ts';
import { buildDeviceFlow } from './device/engine-feature.ts';
import { createDispatch, type Dispatch, type PageFolder } from './dispatch.ts';
import { createEndpointLimits } from './endpoint-limits/endpoint-limits.ts';
import { type AcceptedCalls, createRefreshLoops, createTokenLimit } from './endpoint-limits/token-limit.ts';
import { createEndpointTable } from './endpoint-table.ts';
import { createErrorRenderer } from './endpoints/error-page.ts';
import { createAdapters } from './engine/adapter.ts';
import {
  allScopes,
  buildConfiguration,
  clientCredentialsGrant,
  identityScopes,
} from './engine/configuration.ts';
import { createEngine } from './engine/engine.ts';
import { createFlowLogins, withinOneRequest } from './engine/flow-logins.ts';
import { type ConsentedScopes, hasChosenServer } from './engine/granted-scopes.ts';
import { grantKey, openPayload } from './engine/stored-rows.ts';
import { createAllowedBefore } from './interactions/make-grant.ts';
import { requirePass, resumedBy } from './interactions/page-pass.ts';
import { createFindAbandonedGrants } from './interactions/registered-anew.ts';
import { createInteractions } from './interactions/routes.ts';
import { createSharedAddresses, type Limiters } from './limits.ts';
import { buildLogout, logoutPaths } from './logout/logout-endpoints.ts';
import { createOperatorRelation } from './operator-clients/operator-relation.ts';
import { createOwnGrants, describeOwnGrants, ownGrantsOff } from './own-grants.ts';
import { buildRegistrationFeature } from './registration/registration-feature.ts';
import { createSealedClientIds } from './registration/sealed-client-ids.ts';
import { createResourceRegistry, type ProtectedResource } from './resources.ts';
import { type AuthorizationServerOptions, noUpstreams } from './server-options.ts';
import { createUpstreamLogin } from './upstream-login/upstream-login.ts';
import { createUsedProofs, deriveNonceSecret, type UsedProofs } from './used-proofs.ts';

/** The doors of the authorization server. Paths are those below the issuer. */
export interface AuthorizationServer extends Dispatch {
  /** Access tokens as they are honoured, with data about their callers, for the resource server in the same process. */
  accessTokens: IssuedAccessTokens;
  /**
   * Issues tokens for other resources from now on; what was allowed for one that is gone comes back with it.
   * @throws TypeError if there is none, or one has no canonical URL; nothing is changed then
   */
  replaceResources(resources: readonly ProtectedResource[]): void;
  /** Takes note of calls with access tokens. */
  acceptedCalls: AcceptedCalls;
  /**
   * Returns true if the user chose the server of a grant, because the client's request named none.
   * @param grantId the engine's id
   */
  isServerChosen(grantId: string): Promise<boolean>;
  /** Proofs that were used at the resource server, for every process on the database. */
  usedProofs: UsedProofs;
}

/** Bounds of a fetch of a client document (T-071). */
const documentBounds = { maxBytes: 5 * 1024, timeoutMs: 2_500, maxConcurrent: 32 } as const;

/** Bounds of a fetch of a client's keys (T-057). */
const keyBounds = { maxBytes: 64 * 1024, timeoutMs: 2_500, maxConcurrent: 32 } as const;

/**
 * Creates the authorization server: oidc-provider as the engine, with the checks, limits and pages of Gatehouse around
 * it.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { issuer, storage, keys, lifetimes, tolerances, limits, limiters, logger, now } = options;
  const portsShareCookies = issuer.startsWith('http:') && !options.trustsOtherPorts;
  const refreshGraceSeconds = tolerances.isOn('repeatedRefresh') ? options.refreshGraceSeconds : 0;
  const { artifacts, accounts, clients } = storage;
  const box = createSealedBox(keys.sealing);
  const resources = createResourceRegistry(options.resources);
  const issuedTokens = createAccessTokenSource(storage, box, { issuer, signing: keys.signing });
  const accessTokens = honourBonds(issuedTokens, options.linkStanding);
  const audit = createAuditLog(logger, options.countEvent, options.auditTrail);
  const sealedIds = createSealedClientIds(createTextSeal(box), now);
  const givenIds = options.registration.sealedIds ? sealedIds : undefined;
  const { policy, redirectSchemes } = options.registration;
  const renderError = createErrorRenderer();
  const documentSource = options.clientDocuments && {
    ...options.clientDocuments,
    fetch: createGuardedFetch({ ...documentBounds, mayConnect: reach(options.clientDocuments) }),
    isHostAllowed: createHostPolicy(options.clientDocuments),
  };
  const fetchLimiterOf =
    (what: string): Limiters['ofLoad'] =>
    (name, limit) =>
      limiters.ofLoad(`${what} ${name}`, limit);
  let announcesDocuments = documentSource?.announced === 'always';
  const documents =
    documentSource &&
    createClientDocuments({
      ...documentSource,
      store: storage.clientDocuments,
      box,
      redirectSchemes,
      limits: limits.documents,
      createLimiter: fetchLimiterOf('documents'),
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
  const createKeySets = (whose: string) =>
    createClientKeys({
      fetch:
        options.clientKeys && createGuardedFetch({ ...keyBounds, mayConnect: reach(options.clientKeys) }),
      limits: limits.documents,
      createLimiter: fetchLimiterOf(`keys of ${whose}`),
      now,
    });
  const adapters = createAdapters({
    artifacts,
    clients,
    sealedIds,
    redirectSchemes,
    newClientStatus: policy === 'approval' ? ('pending' as const) : ('approved' as const),
    clientSources: {
      findDocument: documents && createDocumentLookup(documents, audit),
      keys: createKeySets('clients'),
      grantsOff: [
        ...(options.clientCredentials ? [] : [clientCredentialsGrant]),
        ...ownGrantsOff(options.ownGrants),
      ],
    },
    box,
    now,
    refreshGraceSeconds,
    userCodeKeys: keys.cookies,
    interactionSeconds: lifetimes.interactionSeconds,
  });
  const configure = () =>
    buildConfiguration({
      issuer,
      keys,
      accounts,
      resources,
      lifetimes: portsShareCookies ? withinOneRequest(lifetimes) : lifetimes,
      registration: buildRegistrationFeature(givenIds),
      dpop: { nonceSecret: deriveNonceSecret(keys), requireNonce: options.requireDpopNonce },
      deviceFlow,
      clientCredentials: options.clientCredentials,
      metadata: describeOwnGrants(options.ownGrants),
      logout: buildLogout(`${issuer}${logoutPaths.confirm}`, accounts),
      renderError,
      now,
      adapters,
      box,
      clientDocuments: announcesDocuments,
    });
  const grants = createOwnGrants(options.ownGrants, {
    issuer,
    storage,
    keys: createKeySets('issuers'),
    resources,
    accessTokens,
    accessTokenSeconds: lifetimes.accessTokenSeconds,
    audit,
    now,
  });
  const engine = createEngine({
    issuer,
    configure,
    scopes: () => allScopes(resources),
    grants,
    keys,
    logger,
  });
  if (documentSource?.announced === 'if_fetchable') {
    const { fetch, isHostAllowed, allowedHosts } = documentSource;
    void canFetchDocuments(fetch, isHostAllowed, allowedHosts).then((canFetch) => {
      if (!canFetch) return logger.warn(documentsUnreachable);
      announcesDocuments = true;
      engine.renewConfiguration();
    });
  }
  const { at } = engine;

  const limitOf = createEndpointLimits({
    limits,
    limiters,
    isShared: createSharedAddresses(limits.sharedAddresses),
    audit,
    countLimited: options.countLimited,
  });
  const sessions = createOwnSessions({
    provider: engine.provider,
    accounts,
    lifetimes,
    issuer,
    cookieKeys: keys.cookies,
    portsShareCookies,
    now,
  });
  const pageUrl = (uid: string): string => `${issuer}/interaction/${uid}`;
  const allowedBefore = createAllowedBefore(artifacts, box, now);
  const findAbandonedGrants = createFindAbandonedGrants({ artifacts, clients }, box, lifetimes, now);
  const upstreamParts = options.upstreams ?? noUpstreams;
  const upstreamLogin = createUpstreamLogin({
    ...upstreamParts,
    issuer,
    provider: engine.provider,
    storage,
    box,
    resources,
    identityScopes,
    allowedBefore,
    findAbandonedGrants,
    sessions,
    portsShareCookies,
    audit,
    logger,
    pageUrl,
    now,
  });
  const refreshLoops = createRefreshLoops({
    limit: limits.refreshesWithoutCall,
    isServedHere: options.isServedHere,
    audit,
    countLimited: options.countLimited,
    now,
  });
  const { endpoints, families } = createEndpointTable({
    issuer,
    policy,
    redirectSchemes,
    givenIds,
    artifacts,
    invitations: storage.invitations,
    box,
    upstreams: storage.upstreams,
    linkStanding: options.linkStanding,
    takeLogoutToken: options.takeLogoutToken,
    resources,
    issuedTokens,
    accessTokens,
    audit,
    limitOf,
    upstreamCallback: upstreamLogin.callback,
    tokenLimit: createTokenLimit(limits.tokensPerGrant, audit, options.countLimited, limiters),
    refreshLoops,
    refreshGraceSeconds,
    repeatFromOtherAddress: options.repeatFromOtherAddress,
    sourceKeys: keys.cookies,
    deviceLogin: options.deviceLogin,
    wrongDeviceCodes: limiters.ofGuesses('device codes', limits.deviceCodes),
    sessionOf: (ctx) => ctx.cookies.get(engine.provider.cookieName('session'), { signed: false }),
    flowLogins: createFlowLogins({ provider: engine.provider, issuer, portsShareCookies }),
    forgetLogin: sessions.forget,
    requirePass: requirePass(engine.provider),
    resumedBy: resumedBy(engine.provider),
    resumeCookie: engine.provider.cookieName('resume'),
    at,
    now,
  });
  const waysToLogIn = createWaysToLogIn({
    issuer,
    storage,
    box,
    cookieKeys: keys.cookies,
    limits,
    limiters,
    countLimited: options.countLimited,
    now,
  });
  const account = createAccountServer({
    issuer,
    provider: engine.provider,
    storage,
    box,
    resources,
    documents,
    sessions,
    waysToLogIn,
    ...upstreamParts,
    beginUpstream: upstreamLogin.beginUpstream,
    mcpConnections: options.mcpConnections,
    credentialForms: options.credentialForms ?? (() => []),
    cookieKeys: keys.cookies,
    limits,
    limiters,
    audit,
    now,
  });
  const interactions = createInteractions({
    provider: engine.provider,
    accounts,
    artifacts,
    resources,
    identityScopes,
    operatorRelationOf: createOperatorRelation(clients, box),
    audit,
    ...waysToLogIn,
    csrfKeys: keys.cookies,
    origin: new URL(issuer).origin,
    pageUrl,
    allowedBefore,
    findAbandonedGrants,
    upstreams: upstreamParts.upstreams,
    beginUpstream: upstreamLogin.beginUpstream,
    consentThrough: upstreamLogin.consentThrough,
    toolsOf: options.toolsOf,
    lifetimes,
    now,
  });
  /** Folders of pages, which look at methods themselves. */
  const folders: readonly PageFolder[] = [
    { path: '/account', limits: [limitOf.pages], serve: account },
    { path: '/interaction', limits: [limitOf.pages], serve: interactions },
  ];
  const dispatch = createDispatch({ issuer, endpoints, families, folders, tolerances, at });

  return {
    accessTokens: describeCallers(accessTokens, { ...upstreamParts, storage, documents, box, now }),
    usedProofs: createUsedProofs(artifacts),
    acceptedCalls: refreshLoops,
    async isServerChosen(grantId) {
      const row = await artifacts.findGrant(grantKey(grantId));
      return row !== undefined && hasChosenServer(openPayload<ConsentedScopes>(box, 'Grant', row));
    },
    replaceResources(others) {
      resources.replace(others);
      engine.renewScopes();
    },
    ...dispatch,
  };
}

const documentsUnreachable =
  'documents of clients cannot be fetched from this machine, so apps are told to register instead (Codex, Claude Code, VS Code): let it reach https://claude.ai and start again, or set clients.metadataDocuments.enabled to false, or to true where other hosts can be reached';

/** Guards of the hosts from which documents and keys may be fetched. */
function reach({ dangerouslyFromLoopback }: { dangerouslyFromLoopback: boolean }) {
  return (address: string): boolean =>
    isPublicAddress(address) || (dangerouslyFromLoopback && isLoopbackAddress(address));
}
