import { createHash, randomBytes } from 'node:crypto';
import { type Front, readBasic, readBearer, readForm, sendJson, sendPage, startFront } from './front.ts';
import { consentFields, findByLogin, loginFields, type UpstreamPerson, upstreamClient } from './people.ts';
import { createUpstreamKey, type UpstreamKey } from './signing.ts';

/** What of a stand-in for Google a test may change while it runs. */
export interface GoogleLikeState {
  /** Life of the access tokens that are issued from now on. */
  accessTokenSeconds: number;
}

/**
 * A stand-in that behaves as Google does: a refresh token only with `access_type=offline` and only where its consent page
 * was shown (the first time, or `prompt=consent`); refresh tokens stay the same; `/revoke` takes either token, without
 * the client; errors of it are 400.
 */
export interface GoogleLikeUpstream extends Front {
  readonly issuer: string;
  readonly state: GoogleLikeState;
  /** The client's settings for a gatehouse, over them what is given. */
  settings<T extends object>(over?: T): ReturnType<typeof settingsOf> & T;
  /** Lets codes go to a callback of the client. */
  allow(callbackUrl: string): void;
  /** Token requests that were answered well, by grant type. */
  readonly granted: { authorization_code: number; refresh_token: number };
  /** Values of tokens that were revoked at it. */
  readonly revoked: string[];
  /** Every token it issued. */
  readonly issued: string[];
  /** Makes somebody's tokens dead; the next consent page is a first one again. Nobody is told. */
  revokeTokensOf(sub: string): void;
  /** Signs claims with its key. */
  sign: UpstreamKey['sign'];
}

/** Where its API answers who the bearer is. */
export const googleApiPath = '/api/me';

const settingsOf = (url: string) => ({ preset: 'google' as const, issuer: url, ...upstreamClient });

interface Authorization {
  person: UpstreamPerson;
  scope: string;
  redirectUri: string;
  challenge: string | null;
  nonce: string | null;
  offline: boolean;
}

/** Starts one. */
export async function startGoogleLikeUpstream(): Promise<GoogleLikeUpstream> {
  const state: GoogleLikeState = { accessTokenSeconds: 3_600 };
  const granted = { authorization_code: 0, refresh_token: 0 };
  const revoked: string[] = [];
  const issued: string[] = [];
  const key = await createUpstreamKey();
  const callbacks = new Set(['http://127.0.0.1/callback']);
  const codes = new Map<string, Authorization>();
  const access = new Map<string, { person: UpstreamPerson; scope: string; endsAtMs: number }>();
  const refresh = new Map<string, { person: UpstreamPerson; scope: string }>();
  const allowed = new Set<string>();
  const logins = new Map<string, UpstreamPerson>();
  const revokeTokensOf = (sub: string): void => {
    allowed.delete(sub);
    for (const held of [access, refresh])
      for (const [token, { person }] of held) if (person.sub === sub) held.delete(token);
  };
  const secret = (prefix: string): string => {
    const token = `${prefix}${randomBytes(24).toString('base64url')}`;
    issued.push(token);
    return token;
  };

  const front = await startFront((base) => async (request, response) => {
    const url = new URL(request.url ?? '/', base);
    const { searchParams } = url;
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        response.setHeader('cache-control', 'public, max-age=3600');
        return sendJson(response, 200, {
          issuer: base,
          authorization_endpoint: `${base}/o/oauth2/v2/auth`,
          token_endpoint: `${base}/token`,
          userinfo_endpoint: `${base}/v1/userinfo`,
          revocation_endpoint: `${base}/revoke`,
          jwks_uri: `${base}/oauth2/v3/certs`,
          response_types_supported: ['code', 'none'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
          code_challenge_methods_supported: ['plain', 'S256'],
        });
      case '/oauth2/v3/certs':
        return sendJson(response, 200, { keys: [key.publicJwk] });
      case '/o/oauth2/v2/auth': {
        const redirectUri = searchParams.get('redirect_uri') ?? '';
        if (!callbacks.has(redirectUri) || searchParams.get('client_id') !== upstreamClient.clientId)
          return sendPage(response, 'Access blocked', '<p>redirect_uri_mismatch</p>');
        const form = request.method === 'POST' ? await readForm(request) : {};
        const cookie = /(?:^|; )login=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
        const newcomer = findByLogin(form.login, form.password);
        const person = newcomer ?? logins.get(cookie);
        const target = `${url.pathname}${url.search}`.replaceAll('&', '&amp;');
        if (!person)
          return sendPage(
            response,
            'Sign in at Goo',
            `<form method="post" action="${target}">${loginFields}</form>`,
          );
        if (newcomer) {
          const session = randomBytes(16).toString('hex');
          logins.set(session, newcomer);
          response.setHeader('set-cookie', `login=${session}; HttpOnly; Path=/`);
        }
        const asks = !allowed.has(person.sub) || searchParams.get('prompt')?.split(' ').includes('consent');
        if (asks && (form.answer === undefined || newcomer))
          return sendPage(
            response,
            'Consent at Goo',
            `<form method="post" action="${target}"><p>${searchParams.get('scope')}</p>${consentFields}</form>`,
          );
        const back = new URL(redirectUri);
        back.searchParams.set('state', searchParams.get('state') ?? '');
        if (form.answer === 'deny') back.searchParams.set('error', 'access_denied');
        else {
          allowed.add(person.sub);
          const code = `4/${randomBytes(20).toString('base64url')}`;
          codes.set(code, {
            person,
            scope: searchParams.get('scope') ?? '',
            redirectUri,
            challenge: searchParams.get('code_challenge'),
            nonce: searchParams.get('nonce'),
            offline: asks === true && searchParams.get('access_type') === 'offline',
          });
          back.searchParams.set('code', code);
          back.searchParams.set('scope', searchParams.get('scope') ?? '');
        }
        return void response.writeHead(302, { location: back.href }).end();
      }
      case '/token': {
        const form = await readForm(request);
        const { id = form.client_id, secret: proof = form.client_secret } = readBasic(request) ?? {};
        if (id !== upstreamClient.clientId || proof !== upstreamClient.clientSecret)
          return sendJson(response, 401, { error: 'invalid_client', error_description: 'Unauthorized' });
        const answer = (person: UpstreamPerson, scope: string, more: object): void => {
          const token = secret('ya29.canary-');
          access.set(token, { person, scope, endsAtMs: Date.now() + state.accessTokenSeconds * 1000 });
          const { accessTokenSeconds } = state;
          const body = {
            access_token: token,
            expires_in: accessTokenSeconds,
            scope,
            token_type: 'Bearer',
            ...more,
          };
          sendJson(response, 200, body);
        };
        if (form.grant_type === 'refresh_token') {
          const held = refresh.get(form.refresh_token ?? '');
          if (!held)
            return sendJson(response, 400, {
              error: 'invalid_grant',
              error_description: 'Token has been expired or revoked.',
            });
          granted.refresh_token += 1;
          return answer(held.person, held.scope, {});
        }
        const code = codes.get(form.code ?? '');
        codes.delete(form.code ?? '');
        const challenge = createHash('sha256')
          .update(form.code_verifier ?? '')
          .digest('base64url');
        if (!code || code.redirectUri !== form.redirect_uri || code.challenge !== challenge)
          return sendJson(response, 400, {
            error: 'invalid_grant',
            error_description: 'Malformed auth code.',
          });
        granted.authorization_code += 1;
        const { person, nonce } = code;
        const now = Math.floor(Date.now() / 1000);
        const idToken = await key.sign({
          iss: base,
          azp: upstreamClient.clientId,
          aud: upstreamClient.clientId,
          sub: person.sub,
          hd: person.email.split('@')[1],
          email: person.email,
          email_verified: person.emailVerified,
          name: person.name,
          iat: now,
          exp: now + 3_600,
          ...(nonce !== null && { nonce }),
        });
        issued.push(idToken);
        const refreshToken = code.offline ? secret('1//canary-') : undefined;
        if (refreshToken !== undefined) refresh.set(refreshToken, { person, scope: code.scope });
        return answer(person, code.scope, { id_token: idToken, refresh_token: refreshToken });
      }
      case '/revoke': {
        const { token = '' } = await readForm(request);
        const held = refresh.get(token) ?? access.get(token);
        if (!held)
          return sendJson(response, 400, {
            error: 'invalid_token',
            error_description: 'Token expired or revoked',
          });
        revoked.push(token);
        revokeTokensOf(held.person.sub);
        return sendJson(response, 200, {});
      }
      default: {
        const held = access.get(readBearer(request) ?? '');
        if (!held || held.endsAtMs <= Date.now())
          return sendJson(response, 401, { error: { code: 401, status: 'UNAUTHENTICATED' } });
        const { person } = held;
        if (url.pathname === googleApiPath)
          return sendJson(response, 200, { sub: person.sub, scope: held.scope });
        if (url.pathname === '/v1/userinfo')
          return sendJson(response, 200, {
            sub: person.sub,
            name: person.name,
            email: person.email,
            email_verified: person.emailVerified,
          });
        return sendJson(response, 404, { error: { code: 404 } });
      }
    }
  });

  return {
    ...front,
    issuer: front.url,
    state,
    settings: (over) => ({ ...settingsOf(front.url), ...(over as NonNullable<typeof over>) }),
    allow: (callbackUrl) => void callbacks.add(callbackUrl),
    granted,
    revoked,
    issued,
    revokeTokensOf,
    sign: key.sign,
  };
}
