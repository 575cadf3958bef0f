// better-auth with its MCP plugin. Its pages of login and consent, which are the user's to write, answer by themselves.
import { mcp, requireMcpAuth } from '@better-auth/mcp';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { jwt } from 'better-auth/plugins';
import Database from 'better-sqlite3';
import { listen, port } from './listen.ts';
import { serveMcp } from './mcp-server.ts';

const origin = `http://127.0.0.1:${port}`;
const resource = `${origin}/mcp`;
const auth = betterAuth({
  baseURL: origin,
  basePath: '/api/auth',
  secret: 'known to everybody, known to everybody',
  database: new Database(':memory:'),
  telemetry: { enabled: false },
  logger: { disabled: true },
  emailAndPassword: { enabled: true },
  plugins: [
    jwt(),
    mcp({
      loginPage: '/login',
      consentPage: '/consent',
      resource,
      scopes: ['openid', 'offline_access', 'mcp:tools'],
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
      // 30 unless told; a test has no time to wait for the end of that.
      refreshTokenReuseInterval: 1,
    }),
  ],
});
await (await getMigrations(auth.options)).runMigrations();
const protectedMcp = requireMcpAuth(auth, serveMcp, { resource });
let people = 0;

async function logIn(query: string): Promise<Response> {
  people += 1;
  const body = { email: `person${people}@example.com`, password: 'correct horse battery', name: 'Person' };
  const answer = await auth.api.signUpEmail({ body, asResponse: true });
  const headers = new Headers({ location: `${origin}/api/auth/oauth2/authorize${query}` });
  for (const cookie of answer.headers.getSetCookie()) headers.append('set-cookie', cookie);
  return new Response(null, { status: 302, headers });
}

async function consent(query: string, cookie: string): Promise<Response> {
  const answer = await auth.handler(
    new Request(`${origin}/api/auth/oauth2/consent`, {
      method: 'POST',
      headers: { cookie, origin, 'content-type': 'application/json' },
      body: JSON.stringify({ accept: true, oauth_query: query.slice(1) }),
    }),
  );
  const { url } = (await answer.json()) as { url: string };
  return new Response(null, { status: 302, headers: { location: url } });
}

listen(origin, async (request) => {
  const { pathname, search } = new URL(request.url);
  if (pathname === '/mcp') return protectedMcp(request);
  if (pathname === '/login') return logIn(search);
  if (pathname === '/consent') return consent(search, request.headers.get('cookie') ?? '');
  return auth.handler(request);
});
