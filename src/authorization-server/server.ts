import type { Context, Next } from 'koa';
import mount from 'koa-mount';
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import type { KeySet } from '../crypto/keys.ts';
import { createPasswordHasher } from '../crypto/password.ts';
import { createSealedBox } from '../crypto/sealed-box.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import type { Logger } from '../observability/logger.ts';
import type { Storage } from '../storage/storage.ts';
import { createAccessTokenSource } from './access-tokens.ts';
import { createAuditLog } from './audit.ts';
import { createAuthorizationEndpoint, responseModes } from './authorization-endpoint.ts';
import { prepareAuthorization } from './authorization-request.ts';
import { buildConfiguration, enginePaths, identityScopes, type Lifetimes } from './configuration.ts';
import { createInteractions } from './interactions/routes.ts';
import { createLimiter, type Limit } from './limits.ts';
import { createLogin, type LoginLimits } from './login.ts';
import { prepareRegistration } from './registration-request.ts';
import { createResourceRegistry, type ProtectedResource } from './resources.ts';
import { createTokenEndpoint } from './token-endpoint.ts';
import { commitWrites, type WriteSet } from './write-set.ts';

/** What an authorization server is made of. */
export interface AuthorizationServerOptions {
  /** Issuer identifier: the public URL, without a trailing slash. */
  issuer: string;
  storage: Storage;
  keys: KeySet;
  resources: readonly ProtectedResource[];
  lifetimes: Lifetimes;
  /** How long a used refresh token still gives the answer it gave first, in seconds; 0 for never. */
  refreshGraceSeconds: number;
  /** How often an address may register clients, fail at the token endpoint, and log in wrongly. */
  limits: { registrations: Limit; tokenFailures: Limit; logins: LoginLimits };
  logger: Logger;
  /** Epoch seconds. */
  now: () => number;
}

/** The doors of the authorization server. Paths are those below the issuer. */
export interface AuthorizationServer {
  /** Serves a request to one of our paths; calls `next` for any other. */
  middleware: (ctx: Context, next: Next) => Promise<void>;
  /** Access tokens, for the resource server in the same process. */
  accessTokens: ReturnType<typeof createAccessTokenSource>;
}

/** Documents that are the same for everybody: short, so that a new key or endpoint is seen soon (T-115, T-178). */
const publicDocument = 'public, max-age=300';

/**
 * Creates the authorization server: oidc-provider as the engine, and around it what MCP clients, attackers and
 * crashes ask of it.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { issuer, storage, keys, lifetimes, refreshGraceSeconds, limits, logger, now } = options;
  const { artifacts, accounts, clients } = storage;
  const box = createSealedBox(keys.sealing);
  const resources = createResourceRegistry(options.resources);
  const audit = createAuditLog(logger);
  const base = pathOf(issuer);

  const provider = new Provider(
    issuer,
    buildConfiguration({
      issuer,
      keys,
      accounts,
      resources,
      lifetimes,
      now,
      adapter: { artifacts, clients, box, now, refreshGraceSeconds },
    }),
  );
  provider.proxy = true;
  observe(provider, logger);

  const mounted = mount(base || '/', provider);
  const engine = async (ctx: Context, path: string): Promise<void> => {
    ctx.path = `${base}${path}`;
    await mounted(ctx as Parameters<typeof mounted>[0], async () => undefined);
  };
  const engineInOneCommit = async (ctx: Context, path: string): Promise<WriteSet> => {
    const { writes } = await commitWrites(artifacts, async () => {
      await engine(ctx, path);
      return ctx.status < 500;
    });
    return writes;
  };

  const prepareRequest = prepareAuthorization(resources);
  const authorize = createAuthorizationEndpoint(artifacts);
  const token = createTokenEndpoint({ artifacts, box, resources, audit, now, refreshGraceSeconds });
  const registrations = createLimiter(limits.registrations);
  const tokenFailures = createLimiter(limits.tokenFailures);
  const interactions = createInteractions({
    provider,
    accounts,
    artifacts,
    resources,
    identityScopes,
    audit,
    login: createLogin(accounts, createPasswordHasher(), limits.logins),
    csrfKey: keys.cookies[0] ?? '',
    origin: new URL(issuer).origin,
    pageUrl: (uid) => `${issuer}/interaction/${uid}`,
  });

  async function register(ctx: Context): Promise<void> {
    const wait = await registrations.take(String(ctx.state.clientAddress));
    if (wait > 0) return slowDown(ctx, wait, 'too many registrations from this address');
    await prepareRegistration(ctx, async () => void (await engineInOneCommit(ctx, enginePaths.registration)));
    if (ctx.status === 201) audit('client.registered', ctx);
  }

  async function redeem(ctx: Context): Promise<void> {
    const address = String(ctx.state.clientAddress);
    const wait = await tokenFailures.wait(address);
    if (wait > 0) return slowDown(ctx, wait, 'too many failed token requests from this address');
    await token(ctx, () => engine(ctx, enginePaths.token));
    if (ctx.status === 400 || ctx.status === 401) {
      await tokenFailures.take(address);
      audit('token.refused', ctx, { error: String((ctx.body as { error?: unknown }).error) });
    }
    challengeClient(ctx, issuer);
  }

  async function revoke(ctx: Context): Promise<void> {
    ctx.set('Cache-Control', 'no-store');
    const writes = await engineInOneCommit(ctx, enginePaths.revocation);
    if (writes.endsGrant) audit('grant.revoked', ctx);
    challengeClient(ctx, issuer);
  }

  async function metadata(ctx: Context): Promise<void> {
    await engine(ctx, wellKnown.authorizationServer);
    if (ctx.status === 200) Object.assign(ctx.body as object, { response_modes_supported: responseModes });
    ctx.set('Cache-Control', publicDocument);
  }

  async function keySet(ctx: Context): Promise<void> {
    await engine(ctx, enginePaths.jwks);
    ctx.set('Cache-Control', publicDocument);
  }

  /** Every path we serve, with its methods and what serves it. */
  const routes: Record<string, { methods: string[]; serve: (ctx: Context) => Promise<void> }> = {
    [wellKnown.authorizationServer]: { methods: ['GET'], serve: metadata },
    [wellKnown.openidConfiguration]: { methods: ['GET'], serve: metadata },
    [enginePaths.jwks]: { methods: ['GET'], serve: keySet },
    [enginePaths.authorization]: {
      methods: ['GET'],
      serve: (ctx) => prepareRequest(ctx, () => authorize(ctx, () => engine(ctx, enginePaths.authorization))),
    },
    [enginePaths.token]: { methods: ['POST'], serve: redeem },
    [enginePaths.registration]: { methods: ['POST'], serve: register },
    [enginePaths.revocation]: { methods: ['POST'], serve: revoke },
  };

  return {
    accessTokens: createAccessTokenSource(artifacts, box),
    async middleware(ctx, next) {
      if (ctx.path !== base && !ctx.path.startsWith(`${base}/`)) return next();
      const path = ctx.path.slice(base.length);
      const resumed = /^\/authorize\/[\w-]+$/.exec(path);
      if (resumed && ctx.method === 'GET') return authorize(ctx, () => engine(ctx, path));
      if (path.startsWith('/interaction/')) return interactions(ctx, path.slice('/interaction/'.length));
      const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
      if (!route) return next();
      if (isClientEndpoint(path) && ctx.get('Origin') === 'null') return refuseOpaqueOrigin(ctx);
      if (ctx.method === 'OPTIONS' || route.methods.includes(ctx.method === 'HEAD' ? 'GET' : ctx.method))
        return ctx.method === 'OPTIONS' ? engine(ctx, path) : route.serve(ctx);
      ctx.status = 405;
      ctx.set('Allow', [...route.methods, 'OPTIONS'].join(', '));
      ctx.body = { error: 'invalid_request', error_description: `use ${route.methods.join(' or ')} here` };
    },
  };
}

function isClientEndpoint(path: string): boolean {
  return path === enginePaths.token || path === enginePaths.revocation;
}

/** A page without an origin (a sandboxed frame, a local file) is nobody in particular (T-039). */
function refuseOpaqueOrigin(ctx: Context): void {
  ctx.status = 400;
  ctx.set('Cache-Control', 'no-store');
  ctx.vary('Origin');
  ctx.body = {
    error: 'invalid_request',
    error_description: 'pages without an origin may not call this endpoint',
  };
}

function slowDown(ctx: Context, seconds: number, reason: string): void {
  ctx.status = 429;
  ctx.set('Retry-After', String(seconds));
  ctx.set('Cache-Control', 'no-store');
  ctx.body = {
    error: 'temporarily_unavailable',
    error_description: `${reason}; try again in ${seconds} seconds`,
  };
}

/** Every 401 names the scheme (RFC 9110 section 15.5.2); the engine does so only where the client used it (T-047). */
function challengeClient(ctx: Context, issuer: string): void {
  if (ctx.status === 401 && !ctx.response.get('WWW-Authenticate'))
    ctx.set('WWW-Authenticate', `Basic realm="${issuer}", error="invalid_client"`);
}

/** Takes from the engine's events what the endpoints and the log need. */
function observe(provider: Provider, logger: Logger): void {
  provider.on('authorization.error', (ctx: KoaContextWithOIDC, error) => {
    ctx.state.authorizationError = error;
  });
  provider.on('server_error', (ctx: KoaContextWithOIDC, error) => {
    logger.error(
      { requestId: ctx.state.requestId, path: ctx.path, err: error },
      'the authorization server failed',
    );
  });
}
