import { createHash, randomBytes } from 'node:crypto';
import { type Front, readBasic, readBearer, readForm, sendJson, sendPage, startFront } from './front.ts';
import { consentFields, findByLogin, loginFields, type UpstreamPerson, upstreamClient } from './people.ts';

/**
 * A stand-in that behaves as GitHub does to OAuth apps: tokens that never end, no refresh tokens, no ID tokens, no
 * `iss`; errors with status 200; scopes with commas; `/user` and `/user/emails`; its own way to revoke.
 */
export interface GithubLikeUpstream extends Front {
  /** The client's settings for a gatehouse, over them what is given. */
  settings<T extends object>(over?: T): ReturnType<typeof settingsOf> & T;
  /** Lets codes go to a callback of the client. */
  allow(callbackUrl: string): void;
  /** Token requests that were answered well. */
  readonly granted: { authorization_code: number };
  /** Values of tokens that were revoked at it. */
  readonly revoked: string[];
  /** Every token it issued. */
  readonly issued: string[];
  /** Makes somebody's tokens dead, as when the person takes the app off the list. Nobody is told. */
  revokeTokensOf(sub: string): void;
}

const settingsOf = (url: string) => ({
  preset: 'github' as const,
  ...upstreamClient,
  authorizationEndpoint: `${url}/login/oauth/authorize`,
  tokenEndpoint: `${url}/login/oauth/access_token`,
  userInfoEndpoint: `${url}/user`,
  revocationEndpoint: `${url}/applications/{client_id}/token`,
});

interface Code {
  person: UpstreamPerson;
  scope: string;
  redirectUri: string;
  challenge: string | null;
}

/** Starts one. */
export async function startGithubLikeUpstream(): Promise<GithubLikeUpstream> {
  const granted = { authorization_code: 0 };
  const revoked: string[] = [];
  const issued: string[] = [];
  const callbacks = new Set(['http://127.0.0.1/callback']);
  const codes = new Map<string, Code>();
  const tokens = new Map<string, { person: UpstreamPerson; scope: string }>();
  const allowed = new Set<string>();
  const logins = new Map<string, UpstreamPerson>();

  const front = await startFront((base) => async (request, response) => {
    const url = new URL(request.url ?? '/', base);
    const { searchParams } = url;
    const bearer = tokens.get(readBearer(request) ?? '');
    const isClient = (): boolean => {
      const basic = readBasic(request);
      return basic?.id === upstreamClient.clientId && basic.secret === upstreamClient.clientSecret;
    };

    if (url.pathname === '/login/oauth/authorize') {
      const redirectUri = searchParams.get('redirect_uri') ?? '';
      if (!callbacks.has(redirectUri) || searchParams.get('client_id') !== upstreamClient.clientId)
        return sendPage(response, 'Not found', '<p>No such app.</p>');
      const form = request.method === 'POST' ? await readForm(request) : {};
      const cookie = /(?:^|; )login=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
      const newcomer = findByLogin(form.login, form.password);
      const person = newcomer ?? logins.get(cookie);
      const target = `${url.pathname}${url.search}`.replaceAll('&', '&amp;');
      if (!person)
        return sendPage(
          response,
          'Sign in to Hub',
          `<form method="post" action="${target}">${loginFields}</form>`,
        );
      if (newcomer) {
        const session = randomBytes(16).toString('hex');
        logins.set(session, newcomer);
        response.setHeader('set-cookie', `login=${session}; HttpOnly; Path=/`);
      }
      const scope = searchParams.get('scope') ?? '';
      const back = new URL(redirectUri);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      // It asks once, and from then on sends everybody through: what makes a deputy confused (A11-01).
      const remembered = allowed.has(`${person.sub} ${scope}`);
      if (!remembered && (form.answer === undefined || newcomer))
        return sendPage(
          response,
          'Authorize at Hub',
          `<form method="post" action="${target}"><p>${scope}</p>${consentFields}</form>`,
        );
      if (form.answer === 'deny') {
        back.searchParams.set('error', 'access_denied');
        back.searchParams.set('error_description', 'The user has denied your application access.');
        back.searchParams.set('error_uri', `${base}/docs`);
      } else {
        allowed.add(`${person.sub} ${scope}`);
        const code = randomBytes(10).toString('hex');
        codes.set(code, { person, scope, redirectUri, challenge: searchParams.get('code_challenge') });
        back.searchParams.set('code', code);
      }
      return void response.writeHead(302, { location: back.href }).end();
    }

    if (url.pathname === '/login/oauth/access_token') {
      const form = await readForm(request);
      const refuse = (error: string): void =>
        sendJson(response, 200, {
          error,
          error_description: `Hub says ${error}.`,
          error_uri: `${base}/docs`,
        });
      if (form.client_id !== upstreamClient.clientId || form.client_secret !== upstreamClient.clientSecret)
        return refuse('incorrect_client_credentials');
      const code = codes.get(form.code ?? '');
      codes.delete(form.code ?? '');
      const challenge = createHash('sha256')
        .update(form.code_verifier ?? '')
        .digest('base64url');
      if (!code || code.redirectUri !== form.redirect_uri || code.challenge !== challenge)
        return refuse('bad_verification_code');
      const token = `gho_canary_${randomBytes(18).toString('hex')}`;
      const scope = code.scope.split(/[ ,]+/).join(',');
      tokens.set(token, { person: code.person, scope });
      issued.push(token);
      granted.authorization_code += 1;
      if (!request.headers.accept?.includes('application/json'))
        return void response.writeHead(200).end(String(new URLSearchParams({ access_token: token, scope })));
      return sendJson(response, 200, { access_token: token, scope, token_type: 'bearer' });
    }

    const app = /^\/applications\/([^/]+)\/(grant|token)$/.exec(url.pathname);
    if (app && request.method === 'DELETE') {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { access_token: token } = JSON.parse(Buffer.concat(parts).toString()) as { access_token: string };
      if (!isClient() || app[1] !== upstreamClient.clientId)
        return sendJson(response, 404, { message: 'Not Found' });
      const known = tokens.get(token);
      if (!known) return sendJson(response, 422, { message: 'Validation Failed' });
      revoked.push(token);
      for (const [other, { person }] of tokens)
        if (other === token || (app[2] === 'grant' && person === known.person)) tokens.delete(other);
      return void response.writeHead(204).end();
    }

    if (!bearer) return sendJson(response, 401, { message: 'Bad credentials' });
    response.setHeader('x-oauth-scopes', bearer.scope.replaceAll(',', ', '));
    const { person } = bearer;
    if (url.pathname === '/user')
      return sendJson(response, 200, {
        id: Number(person.sub),
        login: person.login,
        name: person.name,
        email: null,
      });
    if (url.pathname === '/user/emails') {
      if (!bearer.scope.split(',').includes('user:email'))
        return sendJson(response, 404, { message: 'Not Found' });
      return sendJson(response, 200, [
        { email: `${person.login}@private.example`, primary: false, verified: true, visibility: null },
        { email: person.email, primary: true, verified: person.emailVerified, visibility: 'public' },
      ]);
    }
    sendJson(response, 404, { message: 'Not Found' });
  });

  return {
    ...front,
    settings: (over) => ({ ...settingsOf(front.url), ...(over as NonNullable<typeof over>) }),
    allow: (callbackUrl) => void callbacks.add(callbackUrl),
    granted,
    revoked,
    issued,
    revokeTokensOf(sub) {
      for (const [token, { person }] of tokens) if (person.sub === sub) tokens.delete(token);
    },
  };
}
