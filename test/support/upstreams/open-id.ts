import type { JWK, JWTPayload } from 'jose';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import { type Front, readBearer, readForm, sendJson, sendPage, startFront } from './front.ts';
import { consentFields, findByLogin, findBySubject, loginFields, upstreamClient } from './people.ts';
import { claimsOf, createUpstreamKey, type UpstreamKey } from './signing.ts';

/** What of a stand-in with OpenID Connect a test may change while it runs. */
export interface OpenIdState {
  /** Life of the access tokens that are issued from now on. */
  accessTokenSeconds: number;
  rotateRefreshTokens: boolean;
}

/** An OpenID provider, whole: oidc-provider with accounts and pages of its own, and an API. */
export interface OpenIdUpstream extends Front {
  readonly issuer: string;
  readonly state: OpenIdState;
  /** The client's settings for a gatehouse, over them what is given. */
  settings<T extends object>(over?: T): { issuer: string; clientId: string; clientSecret: string } & T;
  /** Lets codes go to a callback of the client, and logout tokens to an endpoint. */
  allow(callbackUrl: string, backchannelLogoutUrl?: string): void;
  /** Has the client prove itself with an ES256 key from now on (RFC 7523 section 2.2), and no longer with its secret. */
  expectKey(publicJwk: JWK): void;
  /** Token requests that were answered well, by grant type. */
  readonly granted: { authorization_code: number; refresh_token: number };
  /** Token requests that came, by grant type. */
  readonly asked: { authorization_code: number; refresh_token: number };
  /** Values of tokens that were revoked at it. */
  readonly revoked: string[];
  /** Codes and refresh tokens that came to the token endpoint, in order. */
  readonly shown: string[];
  /** Every token it issued, so that a test may look for them elsewhere. */
  readonly issued: string[];
  /** Whether somebody's client has a refresh token that still works. */
  holdsRefreshToken(sub: string): boolean;
  /** Ends what somebody's client has: refresh tokens answer invalid_grant, access tokens 401. Nobody is told. */
  revokeTokensOf(sub: string): void;
  /** Ends somebody's logins there, with their tokens, and tells the client over the back channel. */
  logOut(sub: string): Promise<void>;
  /** The `sid` of somebody's logins at the client. */
  sidsOf(sub: string): string[];
  /** A logout token, good but for what is given; an undefined claim leaves it out. */
  logoutToken(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Changes each ID token from now on: what is given back is sent in its place. */
  alterIdTokens(change: (claims: JWTPayload, key: UpstreamKey) => string | Promise<string>): void;
  /** Signs with another key from now on; the one before stays in the key set where `keep` says so. */
  rotateKeys(keep?: boolean): Promise<void>;
}

/** Path of the API: answers who the bearer is. */
export const apiPath = '/api/me';

function createStore() {
  const rows = new Map<string, AdapterPayload>();
  const keyOf = (model: string, id: string): string => `${model}:${id}`;
  const find = (test: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
    [...rows.values()].find(test);
  return {
    rows,
    adapter: (model: string, client: () => AdapterPayload): Adapter => ({
      upsert: async (id, payload) => void rows.set(keyOf(model, id), { ...payload }),
      find: async (id) =>
        model === 'Client'
          ? id === upstreamClient.clientId
            ? client()
            : undefined
          : rows.get(keyOf(model, id)),
      findByUid: async (uid) => find((payload) => payload.kind === model && payload.uid === uid),
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const payload = rows.get(keyOf(model, id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void rows.delete(keyOf(model, id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of rows) if (payload.grantId === grantId) rows.delete(key);
      },
    }),
  };
}

/** Starts one. */
export async function startOpenIdUpstream(): Promise<OpenIdUpstream> {
  const state: OpenIdState = { accessTokenSeconds: 3_600, rotateRefreshTokens: true };
  const granted = { authorization_code: 0, refresh_token: 0 };
  const asked = { authorization_code: 0, refresh_token: 0 };
  const revoked: string[] = [];
  const shown: string[] = [];
  const issued: string[] = [];
  const store = createStore();
  const callbacks = new Set(['http://127.0.0.1/callback']);
  let backchannelLogoutUrl: string | undefined;
  let clientKey: JWK | undefined;
  let keys = [await createUpstreamKey()];
  const client = (): AdapterPayload => ({
    client_id: upstreamClient.clientId,
    client_secret: upstreamClient.clientSecret,
    client_name: 'Gatehouse',
    redirect_uris: [...callbacks],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...(clientKey && {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [clientKey] },
    }),
    ...(backchannelLogoutUrl !== undefined && {
      backchannel_logout_uri: backchannelLogoutUrl,
      backchannel_logout_session_required: true,
    }),
  });

  const build = (issuer: string): Provider => {
    const provider = new Provider(issuer, {
      adapter: (model) => store.adapter(model, client),
      jwks: { keys: keys.map(({ privateJwk }) => privateJwk) as never },
      cookies: { keys: ['a cookie key of the stand-in'] },
      scopes: ['openid', 'offline_access', 'profile', 'email', 'groups', 'files:read', 'files:write'],
      claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
      conformIdTokenClaims: false,
      responseTypes: ['code'],
      pkce: { required: () => true },
      features: {
        devInteractions: { enabled: false },
        revocation: {
          enabled: true,
          allowedPolicy: async (_ctx, asking, token) => token.clientId === asking.clientId,
        },
        backchannelLogout: { enabled: true },
      },
      // Without the engine's own dispatcher, which does not send logout tokens to this machine.
      fetch: (url, options) => {
        const { dispatcher: _guard, ...others } = { ...options } as RequestInit & { dispatcher?: unknown };
        return globalThis.fetch(url, others);
      },
      ttl: {
        AccessToken: () => state.accessTokenSeconds,
        RefreshToken: 86_400,
        IdToken: 3_600,
        Interaction: 600,
        Session: 86_400,
        Grant: 86_400,
      },
      issueRefreshToken: async (_ctx, asking) => asking.grantTypeAllowed('refresh_token'),
      rotateRefreshToken: () => state.rotateRefreshTokens,
      expiresWithSession: async () => false,
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      findAccount: async (_ctx, sub) => {
        const person = findBySubject(sub);
        return (
          person && {
            accountId: sub,
            claims: async () => ({
              sub,
              name: person.name,
              email: person.email,
              email_verified: person.emailVerified,
              groups: [...person.groups],
            }),
          }
        );
      },
    });
    provider.use(async (ctx, next) => {
      await next();
      const params = ctx.oidc?.params ?? {};
      if (ctx.path === '/token/revocation') revoked.push(String(params.token));
      const grantType = String(params.grant_type) as keyof typeof granted;
      if (ctx.path !== '/token' || !(grantType in granted)) return;
      asked[grantType] += 1;
      shown.push(String(params.code ?? params.refresh_token));
      if (ctx.status !== 200) return;
      granted[grantType] += 1;
      const body = ctx.body as Record<string, string>;
      issued.push(
        ...[body.access_token, body.refresh_token, body.id_token].filter((token) => token !== undefined),
      );
    });
    return provider;
  };

  let provider: Provider | undefined;
  let answer: ReturnType<Provider['callback']> | undefined;
  const front = await startFront((url) => {
    provider = build(url);
    answer = provider.callback();
    return async (request, response) => {
      const path = new URL(request.url ?? '/', url).pathname;
      const engine = provider as Provider;
      if (path === apiPath) {
        const token = await engine.AccessToken.find(readBearer(request) ?? '');
        if (!token) return sendJson(response, 401, { error: 'invalid_token' });
        return sendJson(response, 200, { sub: token.accountId, scope: token.scope });
      }
      if (!path.startsWith('/interaction/')) return answer?.(request, response);
      const interaction = await engine.interactionDetails(request, response);
      const { prompt, params, session } = interaction;
      if (request.method !== 'POST')
        return sendPage(
          response,
          prompt.name === 'login' ? 'Log in at Work' : 'Allow at Work',
          `<form method="post" action="${path}">${prompt.name === 'login' ? loginFields : `<p>${params.scope}</p>${consentFields}`}</form>`,
        );
      const form = await readForm(request);
      if (form.answer === 'deny')
        return engine.interactionFinished(
          request,
          response,
          { error: 'access_denied' },
          { mergeWithLastSubmission: false },
        );
      if (prompt.name === 'login') {
        const person = findByLogin(form.login, form.password);
        if (!person)
          return sendPage(
            response,
            'Log in at Work',
            `<form method="post" action="${path}">${loginFields}</form>`,
          );
        return engine.interactionFinished(request, response, { login: { accountId: person.sub } });
      }
      const grant = interaction.grantId
        ? await engine.Grant.find(interaction.grantId)
        : new engine.Grant({ accountId: session?.accountId, clientId: String(params.client_id) });
      grant?.addOIDCScope(String(params.scope));
      const grantId = await grant?.save();
      return engine.interactionFinished(
        request,
        response,
        { consent: { grantId } },
        { mergeWithLastSubmission: true },
      );
    };
  });

  const sessionsOf = (sub: string): [string, AdapterPayload][] =>
    [...store.rows].filter(([key, payload]) => key.startsWith('Session:') && payload.accountId === sub);
  const sidsOf = (sub: string): string[] =>
    sessionsOf(sub).flatMap(([, { authorizations = {} }]) =>
      Object.values(authorizations as Record<string, { sid?: string }>).flatMap(({ sid }) => sid ?? []),
    );
  const revokeTokensOf = (sub: string): void => {
    for (const [key, payload] of store.rows)
      if (payload.accountId === sub && /^(AccessToken|RefreshToken|Grant|AuthorizationCode):/.test(key))
        store.rows.delete(key);
  };

  return {
    ...front,
    issuer: front.url,
    state,
    settings: (over) => ({ issuer: front.url, ...upstreamClient, ...(over as NonNullable<typeof over>) }),
    allow(callbackUrl, logoutUrl) {
      callbacks.add(callbackUrl);
      backchannelLogoutUrl = logoutUrl ?? backchannelLogoutUrl;
    },
    expectKey(publicJwk) {
      clientKey = publicJwk;
    },
    granted,
    asked,
    revoked,
    shown,
    issued,
    holdsRefreshToken: (sub) =>
      [...store.rows].some(
        ([key, { accountId, consumed }]) =>
          key.startsWith('RefreshToken:') && accountId === sub && consumed === undefined,
      ),
    revokeTokensOf,
    sidsOf,
    async logOut(sub) {
      const sids = sidsOf(sub);
      for (const [key] of sessionsOf(sub)) store.rows.delete(key);
      revokeTokensOf(sub);
      const known = await provider?.Client.find(upstreamClient.clientId);
      const { backchannelLogout } = known as unknown as {
        backchannelLogout(sub: string, sid: string): Promise<unknown>;
      };
      for (const sid of sids) await backchannelLogout.call(known, sub, sid);
    },
    logoutToken(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const [key] = keys as [UpstreamKey];
      return key.sign(
        {
          iss: front.url,
          aud: upstreamClient.clientId,
          iat: now,
          exp: now + 120,
          jti: crypto.randomUUID(),
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        { typ: 'logout+jwt', ...header },
      );
    },
    alterIdTokens: (change) =>
      front.alter('/token', async (body) =>
        typeof body.id_token === 'string'
          ? { ...body, id_token: await change(claimsOf(body.id_token), keys[0] as UpstreamKey) }
          : body,
      ),
    async rotateKeys(keep = true) {
      keys = [await createUpstreamKey(), ...(keep ? keys : [])];
      provider = build(front.url);
      answer = provider.callback();
    },
  };
}
