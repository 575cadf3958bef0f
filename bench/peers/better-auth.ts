// better-auth with its plugins for OAuth, tokens signed with ES256: node better-auth.ts FULL|NORMAL
import { createServer, type ServerResponse } from 'node:http';
import { oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { openDatabase } from './database.ts';

const port = Number(process.env.PORT);
const scopes = ['openid', 'offline_access', 'mcp:tools'];
const auth = betterAuth({
  baseURL: `http://127.0.0.1:${port}`,
  basePath: '/api/auth',
  secret: 'a secret of the bench, and of nothing else',
  database: openDatabase(process.argv[2] ?? 'FULL'),
  telemetry: { enabled: false },
  logger: { level: 'error' },
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  plugins: [
    jwt({ jwks: { keyPairConfig: { alg: 'ES256' } } }),
    oauthProvider({
      loginPage: '/login',
      consentPage: '/consent',
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
      scopes,
      clientRegistrationAllowedScopes: scopes,
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
      rateLimit: {
        token: false,
        authorize: false,
        register: false,
        introspect: false,
        revoke: false,
        userinfo: false,
      },
    }),
  ],
});
await (await getMigrations(auth.options)).runMigrations();

let people = 0;
let client: Promise<{ client_id: string }> | undefined;

/** Gives the bench a browser that is logged in, and a client that needs no consent. */
async function answerLogin(response: ServerResponse): Promise<void> {
  const email = `person-${people++}@example.com`;
  const signedUp = await auth.api.signUpEmail({
    body: { email, password: 'a password for the bench', name: 'Bench' },
    asResponse: true,
  });
  const cookie = signedUp.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  client ??= auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie }),
    body: {
      client_name: 'Bench',
      redirect_uris: ['http://127.0.0.1:53682/callback'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      skip_consent: true,
      scope: scopes.join(' '),
    },
  });
  const { client_id: clientId } = await client;
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ cookie, clientId }));
}

const answer = toNodeHandler(auth);
createServer((request, response) => {
  if (request.url !== '/bench/login') void answer(request, response);
  else
    answerLogin(response).catch((error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    });
}).listen(port, '127.0.0.1', 4096);
process.on('SIGTERM', () => process.exit(0));
