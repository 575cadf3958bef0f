import { describe, it } from 'vitest';
import { createMemoryStore } from '../../src/client/index.ts';
import { passiveChecks } from '../../src/doctor/all-checks.ts';
import { keptClientCheck } from '../../src/doctor/registration/policy-checks.ts';
import type { Reply } from './support/http.ts';
import { expectOneFault, type FaultCase } from './support/one-fault.ts';
import { routeNames, type TestServer } from './support/server.ts';

const { authorizationServer, mcp, openidConfiguration, protectedResource, protectedResourceAtRoot } =
  routeNames;

const page = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  text: '<!doctype html><title>App</title>',
};

/** Changes both documents of the authorization server, so that they still agree. */
function publishIssuer(server: TestServer, members: Record<string, unknown>): void {
  for (const name of [authorizationServer, openidConfiguration]) server.publish(name, members);
}

/** Changes the protected resource metadata at both its places. */
function publishResource(server: TestServer, members: Record<string, unknown>): void {
  for (const name of [protectedResource, protectedResourceAtRoot]) server.publish(name, members);
}

/** Rewrites the challenge of every refusal. */
function challenge(server: TestServer, rewrite: (line: string) => string): void {
  for (const name of [mcp, 'GET /mcp'])
    server.change(name, (reply) => {
      const line = reply.headers?.['www-authenticate'];
      if (typeof line !== 'string') return reply;
      return { ...reply, headers: { ...reply.headers, 'www-authenticate': rewrite(line) } };
    });
}

/** Adds a field to the answers of a route. */
function add(server: TestServer, name: string, headers: Record<string, string>): void {
  server.change(name, (reply) => ({ ...reply, headers: { ...reply.headers, ...headers } }));
}

/** A fault of the answers to made-up tokens in the shape of a JWT. */
function toJwts(server: TestServer, reply: Reply): void {
  server.change(mcp, (sound, { headers }) =>
    headers.authorization?.split('.').length === 3 ? reply : sound,
  );
}

/** Serves everybody what these methods ask for. */
function openTo(server: TestServer, ...methods: readonly string[]): void {
  server.change(mcp, (reply, { body }) => {
    const { method = '' } = JSON.parse(body || '{}') as { method?: string };
    return methods.includes(method) ? { json: { jsonrpc: '2.0', id: 'doctor', result: {} } } : reply;
  });
}

/** One fault a row: what is wrong, which check says so, and what its sentence has to name. */
const faults: readonly FaultCase[] = [
  {
    what: 'the endpoint redirects to itself with a slash',
    fault: ({ routes, origin }) => {
      routes[mcp] = () => ({ status: 308, headers: { location: `${origin}/mcp/` } });
    },
    id: 'REACH-REDIRECT',
    verdict: 'fail',
    names: ({ origin }) => ['308', `"${origin}/mcp/"`],
    fix: ({ origin }) => `call "${origin}/mcp/"`,
    skips: ['CHALLENGE-STATUS', 'CHALLENGE-HEADER', 'CORS-PREFLIGHT'],
  },
  {
    what: 'a stream begins without anything in it',
    fault: ({ routes }) => {
      routes[mcp] = () => ({
        raw: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
      });
    },
    id: 'REACH-ANSWER',
    verdict: 'fail',
    names: () => ['200 text/event-stream, and no event in time'],
    fix: () => 'a proxy',
    skips: ['CHALLENGE-STATUS'],
  },
  {
    what: 'a login page of a proxy stands in front',
    fault: ({ routes }) => {
      routes[mcp] = () => ({ status: 302, headers: { location: 'https://sso.example.com/login?next=/mcp' } });
    },
    id: 'REACH-REDIRECT',
    verdict: 'fail',
    names: () => ['302', 'sso.example.com/login', 'login page'],
    fix: () => /well-known.*login of the proxy/,
  },
  {
    what: 'a firewall answers 403 where there is no token',
    fault: ({ routes }) => {
      routes[mcp] = routes['GET /mcp'] = () => ({ status: 403, text: 'Forbidden' });
    },
    id: 'CHALLENGE-STATUS',
    verdict: 'fail',
    names: () => ['answered with 403'],
    fix: () => 'Answer 401',
    skips: ['CHALLENGE-HEADER', 'CHALLENGE-BAD-TOKEN'],
  },
  {
    what: 'a proxy stands there and does not reach it',
    fault: (server) => {
      for (const route of Object.keys(server.routes))
        server.routes[route] = () => ({
          status: 502,
          headers: { 'content-type': 'text/html' },
          text: '<h1>502</h1>',
        });
    },
    id: 'REACH-ANSWER',
    verdict: 'fail',
    names: () => ['502', 'does not reach the server'],
    fix: () => 'Start the server',
    skips: ['CHALLENGE-STATUS', 'PRM-DOCUMENT'],
  },
  {
    what: 'the path is wrong, and another one near is right',
    fault: () => undefined,
    url: ({ origin }) => `${origin}/api`,
    id: 'CHALLENGE-STATUS',
    verdict: 'fail',
    names: () => ['404'],
    fix: ({ origin }) => `Use ${origin}/mcp`,
  },
  {
    what: 'the request without a token ends in an error',
    fault: ({ routes }) => {
      routes[mcp] = routes['GET /mcp'] = () => ({ status: 500, text: 'Internal Server Error' });
    },
    id: 'CHALLENGE-STATUS',
    verdict: 'fail',
    names: () => ['500'],
    fix: () => /log/,
  },
  {
    what: 'a page is where the endpoint should be',
    fault: ({ routes }) => {
      routes[mcp] = routes['GET /mcp'] = () => page;
    },
    id: 'CHALLENGE-STATUS',
    verdict: 'fail',
    names: () => ['200 text/html', 'a page'],
  },
  {
    what: 'something takes WWW-Authenticate away',
    fault: (server) =>
      server.change(mcp, ({ headers: { 'www-authenticate': _gone, ...headers } = {}, ...reply }) => ({
        ...reply,
        headers,
      })),
    id: 'CHALLENGE-HEADER',
    verdict: 'fail',
    names: () => ['401', 'no WWW-Authenticate'],
    fix: ({ origin }) => `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    skips: ['CHALLENGE-GRAMMAR', 'CHALLENGE-SCHEME', 'CHALLENGE-METADATA', 'PRM-LINK'],
  },
  {
    what: 'the URL in the challenge is not in quotes',
    fault: (server) =>
      challenge(server, (line) => line.replace(/resource_metadata="([^"]+)"/, 'resource_metadata=$1')),
    id: 'CHALLENGE-GRAMMAR',
    verdict: 'fail',
    names: () => ['the value of resource_metadata has a ":" and is not in quotes', 'At character'],
    skips: ['CHALLENGE-METADATA'],
  },
  {
    what: 'a proxy asks for a password of its own',
    fault: (server) => challenge(server, () => 'Basic realm="intranet"'),
    id: 'CHALLENGE-SCHEME',
    verdict: 'fail',
    names: () => ['"basic"', 'no Bearer'],
    fix: () => 'password of its own',
    skips: ['CHALLENGE-METADATA', 'CHALLENGE-SCOPE'],
  },
  {
    what: 'resource_metadata is relative',
    fault: (server) =>
      challenge(server, (line) => line.replace(/(resource_metadata=")[^"]+/, '$1/.well-known/x')),
    id: 'CHALLENGE-METADATA',
    verdict: 'fail',
    names: () => ['"/.well-known/x"', 'no absolute URL'],
    skips: ['PRM-LINK'],
  },
  {
    what: 'resource_metadata is missing',
    fault: (server) => challenge(server, (line) => line.replace(/, resource_metadata="[^"]+"/, '')),
    id: 'CHALLENGE-METADATA',
    verdict: 'warn',
    names: () => ['no resource_metadata', '2025-06-18'],
  },
  {
    what: 'resource_metadata is on the host behind the proxy',
    fault: (server) =>
      challenge(server, (line) => line.replace(/http:\/\/127[^/]+/, 'http://mcp-backend:8080')),
    id: 'CHALLENGE-METADATA',
    verdict: 'fail',
    names: () => ['http://mcp-backend:8080/', 'another origin'],
    fix: () => 'public URL',
  },
  {
    what: 'the challenge names no scope',
    fault: (server) => challenge(server, (line) => line.replace(/scope="[^"]*", /, '')),
    id: 'CHALLENGE-SCOPE',
    verdict: 'warn',
    names: () => ['names no scope'],
  },
  {
    what: 'a bad token ends in an error',
    fault: (server) =>
      server.change(mcp, (reply, { headers }) =>
        headers.authorization === undefined ? reply : { status: 500, text: 'jwt malformed' },
      ),
    id: 'CHALLENGE-BAD-TOKEN',
    verdict: 'fail',
    names: () => ['answered with 500'],
    fix: () => 'error="invalid_token"',
    skips: ['CHALLENGE-QUERY-TOKEN'],
  },
  {
    what: 'a bad token ends in an error where it looks like a JWT',
    fault: (server) => toJwts(server, { status: 500, text: 'jwt malformed' }),
    id: 'CHALLENGE-BAD-TOKEN',
    verdict: 'fail',
    names: () => ['A made-up token in the shape of a JWT is answered with 500'],
    fix: () => 'error="invalid_token"',
    skips: ['CHALLENGE-QUERY-TOKEN'],
  },
  {
    what: 'JWTs are taken without a look at their signature',
    fault: (server) => toJwts(server, { json: { jsonrpc: '2.0', id: 'doctor', result: {} } }),
    id: 'CHALLENGE-BAD-TOKEN',
    verdict: 'fail',
    names: () => ['in the shape of a JWT is answered with 200'],
    fix: () => 'the server takes any',
  },
  {
    what: 'only initialize is protected',
    fault: (server) => openTo(server, 'tools/list', 'tools/call'),
    id: 'CHALLENGE-OPEN',
    verdict: 'fail',
    names: () => ['initialize 401', 'tools/list 200', 'Only the beginning of a session is protected'],
    fix: () => 'at every request',
  },
  {
    what: 'a server for everybody publishes where to log in',
    fault: (server) => {
      openTo(server, 'initialize', 'tools/list', 'tools/call');
      server.routes['GET /mcp'] = () => ({ status: 405 });
    },
    id: 'CHALLENGE-OPEN',
    verdict: 'warn',
    names: ({ origin }) => [
      'serves everybody',
      `${origin}/.well-known/oauth-protected-resource/mcp says that tokens are needed`,
    ],
    fix: () => 'take the metadata away',
  },
  {
    what: 'any token opens the server',
    fault: (server) =>
      server.change(mcp, (reply, { headers }) =>
        headers.authorization === undefined ? reply : { json: { jsonrpc: '2.0', id: 'doctor', result: {} } },
      ),
    id: 'CHALLENGE-BAD-TOKEN',
    verdict: 'fail',
    names: () => ['answered with 200'],
    fix: () => 'the server takes any',
  },
  {
    what: 'a bad token is not called one',
    fault: (server) => challenge(server, (line) => line.replace('error="invalid_token", ', '')),
    id: 'CHALLENGE-BAD-TOKEN',
    verdict: 'warn',
    names: () => ['without error="invalid_token"'],
    fix: () => 'let Authorization through what stands in front',
  },
  {
    what: 'tokens are read from the query',
    fault: (server) =>
      server.change(mcp, (reply, { query }) => {
        if (!query.has('access_token')) return reply;
        return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } };
      }),
    id: 'CHALLENGE-QUERY-TOKEN',
    verdict: 'fail',
    names: () => ['access_token in the query', '401'],
    fix: () => 'Authorization header only',
  },
  {
    what: 'a cache keeps refusals',
    fault: (server) => add(server, mcp, { 'cache-control': 'public, max-age=600' }),
    id: 'CHALLENGE-CACHE',
    verdict: 'warn',
    names: () => ['public, max-age=600'],
    fix: () => 'no-store',
  },
  {
    what: 'what succeeds carries a challenge',
    fault: (server) => add(server, protectedResource, { 'www-authenticate': 'Bearer' }),
    id: 'CHALLENGE-ON-SUCCESS',
    verdict: 'warn',
    names: ({ origin }) => [`GET ${origin}/.well-known/oauth-protected-resource/mcp`, '200'],
  },
  {
    what: 'the preflight needs a token',
    fault: ({ routes }) => {
      routes['OPTIONS /mcp'] = () => ({ status: 401 });
    },
    id: 'CORS-PREFLIGHT',
    verdict: 'warn',
    names: () => ['OPTIONS is answered with 401'],
    fix: () => 'before authorization',
  },
  {
    what: 'pages cannot read the challenge',
    fault: (server) => add(server, mcp, { 'access-control-expose-headers': 'Mcp-Session-Id' }),
    id: 'CORS-CHALLENGE',
    verdict: 'warn',
    names: () => ['lacks WWW-Authenticate'],
  },
  {
    what: 'an application answers every path with its page',
    fault: ({ routes }) => {
      routes[protectedResource] = routes[protectedResourceAtRoot] = () => page;
    },
    id: 'PRM-DOCUMENT',
    verdict: 'fail',
    names: ({ origin }) => [`${origin}/.well-known/oauth-protected-resource/mcp: it is "text/html"`],
    fix: () => 'application/json',
    skips: ['PRM-FOUND', 'PRM-RESOURCE', 'AS-FOUND', 'AS-PKCE'],
  },
  {
    what: 'the metadata is behind the login',
    fault: ({ routes }) => {
      routes[protectedResource] = routes[protectedResourceAtRoot] = () => ({ status: 401 });
    },
    id: 'PRM-DOCUMENT',
    verdict: 'fail',
    names: () => ['it answers 401: it asks for a login before the login'],
  },
  {
    what: 'there is no metadata anywhere',
    fault: ({ routes }) => {
      for (const name of [
        protectedResource,
        protectedResourceAtRoot,
        authorizationServer,
        openidConfiguration,
      ])
        delete routes[name];
    },
    id: 'PRM-FOUND',
    verdict: 'fail',
    names: ({ origin }) => [`${origin}/.well-known/oauth-protected-resource: 404`],
    skips: ['PRM-LINK', 'PRM-RESOURCE', 'AS-FOUND'],
  },
  {
    what: 'there is only the metadata of 2025-03-26',
    fault: (server) => {
      delete server.routes[protectedResource];
      delete server.routes[protectedResourceAtRoot];
      challenge(server, (line) => line.replace(/, resource_metadata="[^"]+"/, ''));
    },
    id: 'PRM-FOUND',
    verdict: 'warn',
    names: () => ['as in 2025-03-26'],
  },
  {
    what: 'the challenge leads nowhere',
    fault: (server) =>
      challenge(server, (line) => line.replace('protected-resource/mcp', 'protected-resource/old')),
    id: 'PRM-LINK',
    verdict: 'fail',
    names: ({ origin }) => [`${origin}/.well-known/oauth-protected-resource/old`, '404'],
  },
  {
    what: 'two places say different things',
    fault: (server) => server.publish(protectedResourceAtRoot, { scopes_supported: ['everything'] }),
    id: 'PRM-AGREE',
    verdict: 'warn',
    names: () => ['"scopes_supported"', 'everything'],
  },
  {
    what: 'pages cannot read the metadata',
    fault: (server) =>
      add(server, protectedResource, { 'access-control-allow-origin': 'https://app.example.com' }),
    id: 'PRM-CORS',
    verdict: 'warn',
    names: ({ origin }) => [`${origin}/.well-known/oauth-protected-resource/mcp`],
  },
  {
    what: 'caches keep the metadata for a month',
    fault: (server) => add(server, protectedResource, { 'cache-control': 'max-age=2592000' }),
    id: 'PRM-CACHE',
    verdict: 'warn',
    names: () => ['max-age=2592000', '30 days'],
  },
  {
    what: 'the server does not know its public address',
    fault: (server) => publishResource(server, { resource: 'http://mcp-backend:8080/mcp' }),
    id: 'PRM-INTERNAL-HOST',
    verdict: 'fail',
    names: () => ['"http://mcp-backend:8080/mcp"', 'the host mcp-backend'],
    fix: () => 'X-Forwarded-Proto',
    skips: ['PRM-RESOURCE', 'AS-FOUND'],
  },
  {
    what: '"resource" has a slash more',
    fault: (server) => publishResource(server, { resource: `${server.url}/` }),
    id: 'PRM-RESOURCE',
    verdict: 'warn',
    names: ({ url }) => [
      `expected "${url}", found "${url}/"`,
      `they differ at character ${url.length + 1}`,
      'VS Code',
    ],
    fix: ({ url }) => `publish "${url}"`,
  },
  {
    what: '"resource" is the origin',
    fault: (server) => publishResource(server, { resource: server.origin }),
    id: 'PRM-RESOURCE',
    verdict: 'warn',
    names: ({ origin }) => ['a parent of the URL', `found "${origin}"`],
  },
  {
    what: '"resource" is another server',
    fault: (server) => publishResource(server, { resource: 'https://other.example.com/mcp' }),
    id: 'PRM-RESOURCE',
    verdict: 'fail',
    names: () => ['found "https://other.example.com/mcp"', 'differ at character 5'],
  },
  {
    what: '"resource" has a fragment',
    fault: (server) => publishResource(server, { resource: `${server.url}#x` }),
    id: 'PRM-RESOURCE-FORM',
    verdict: 'fail',
    names: ({ url }) => [`"${url}#x"`, 'fragment'],
    skips: ['PRM-RESOURCE'],
  },
  {
    what: 'no authorization server is named',
    fault: (server) => publishResource(server, { authorization_servers: [] }),
    id: 'PRM-SERVERS',
    verdict: 'fail',
    names: () => ['"authorization_servers" is'],
    skips: ['AS-ISSUER-FORM', 'AS-FOUND', 'AS-ISSUER', 'AS-KEYS'],
  },
  {
    what: '"scopes_supported" has offline_access',
    fault: (server) => publishResource(server, { scopes_supported: ['notes:read', 'offline_access'] }),
    id: 'PRM-SCOPES',
    verdict: 'warn',
    names: () => ['offline_access'],
  },
  {
    what: 'tokens are announced for the query',
    fault: (server) => publishResource(server, { bearer_methods_supported: ['header', 'query'] }),
    id: 'PRM-BEARER-METHODS',
    verdict: 'warn',
    names: () => ['query'],
  },
  {
    what: 'tokens are not announced for the header',
    fault: (server) => publishResource(server, { bearer_methods_supported: ['body'] }),
    id: 'PRM-BEARER-METHODS',
    verdict: 'fail',
    names: () => ['"body"', 'without header'],
  },
  {
    what: 'DPoP is required, and not asked for',
    fault: (server) => publishResource(server, { dpop_bound_access_tokens_required: true }),
    id: 'PRM-DPOP',
    verdict: 'warn',
    names: () => ['offers no DPoP'],
  },
  {
    what: 'the issuer has a query',
    fault: (server) => publishResource(server, { authorization_servers: [`${server.origin}?tenant=1`] }),
    id: 'AS-ISSUER-FORM',
    verdict: 'fail',
    names: ({ origin }) => [`"${origin}?tenant=1"`],
    skips: ['AS-FOUND'],
  },
  {
    what: 'the metadata of an issuer with a path is in the wrong place',
    issuerPath: '/tenant',
    fault: ({ routes }) => {
      const document = routes['GET /.well-known/oauth-authorization-server/tenant'];
      for (const name of Object.keys(routes)) if (name.includes('/tenant')) delete routes[name];
      if (document) routes['GET /tenant/.well-known/oauth-authorization-server'] = document;
    },
    id: 'AS-FOUND',
    verdict: 'fail',
    names: ({ origin }) => [
      `${origin}/.well-known/oauth-authorization-server/tenant: 404`,
      `${origin}/.well-known/openid-configuration/tenant: 404`,
      `${origin}/tenant/.well-known/openid-configuration: 404`,
    ],
    fix: ({ origin }) => `It is at ${origin}/tenant/.well-known/oauth-authorization-server`,
    skips: ['AS-ISSUER', 'AS-PKCE', 'AS-ENDPOINTS', 'AS-COMPATIBILITY'],
  },
  {
    what: 'the first place of the metadata ends in an error',
    fault: ({ routes }) => {
      routes[authorizationServer] = () => ({ status: 503 });
    },
    id: 'AS-FOUND',
    verdict: 'warn',
    names: ({ origin }) => [`It is at ${origin}/.well-known/openid-configuration`, '503'],
  },
  {
    what: 'the issuer has a slash more in its metadata',
    fault: (server) => publishIssuer(server, { issuer: `${server.origin}/` }),
    id: 'AS-ISSUER',
    verdict: 'warn',
    names: ({ origin }) => [
      `expected "${origin}", found "${origin}/"`,
      `they differ at character ${origin.length + 1}`,
    ],
    fix: () => 'with the slash at its end, or without',
  },
  {
    what: 'members of the metadata are null or texts (FA-26)',
    fault: (server) =>
      publishIssuer(server, { service_documentation: null, response_modes_supported: 'query' }),
    id: 'AS-MEMBERS',
    verdict: 'warn',
    names: () => ['null or empty: service_documentation', '"response_modes_supported" is a text'],
    fix: () => 'Leave members without a value out',
  },
  {
    what: 'every request ends in an error (FA-62)',
    fault: ({ routes }) => {
      for (const name of Object.keys(routes)) routes[name] = () => ({ status: 500 });
      for (const name of [protectedResource, protectedResourceAtRoot]) routes[name] = () => ({ status: 500 });
    },
    id: 'CHALLENGE-STATUS',
    verdict: 'fail',
    names: () => ['POST without a token is answered with 500'],
    fix: () => 'See the log of the server',
    skips: ['PRM-DOCUMENT', 'PRM-FOUND', 'AS-FOUND'],
  },
  {
    what: 'the two documents differ',
    fault: (server) => server.publish(openidConfiguration, { token_endpoint: `${server.origin}/oidc/token` }),
    id: 'AS-AGREE',
    verdict: 'warn',
    names: ({ origin }) => ['"token_endpoint"', `${origin}/oidc/token`],
  },
  {
    what: 'a second authorization server is none',
    fault: (server) =>
      publishResource(server, { authorization_servers: [server.origin, `${server.origin}/nobody`] }),
    id: 'AS-OTHERS',
    verdict: 'warn',
    names: ({ origin }) => [`"${origin}/nobody"`],
  },
  {
    what: 'the token endpoint is missing',
    fault: (server) => publishIssuer(server, { token_endpoint: undefined }),
    id: 'AS-ENDPOINTS',
    verdict: 'fail',
    names: () => ['"token_endpoint" is missing'],
    skips: ['AS-ENDPOINTS-ANSWER', 'AS-CORS'],
  },
  {
    what: 'an endpoint has the name of an inner network',
    fault: (server) => publishIssuer(server, { authorization_endpoint: 'http://keycloak:8080/authorize' }),
    id: 'AS-ENDPOINTS',
    verdict: 'fail',
    names: () => ['"http://keycloak:8080/authorize"', 'the host keycloak'],
  },
  {
    what: 'the token endpoint is on another origin',
    fault: (server) =>
      publishIssuer(server, { token_endpoint: `${server.origin.replace('127.0.0.1', 'localhost')}/token` }),
    id: 'AS-ENDPOINT-ORIGIN',
    verdict: 'warn',
    names: () => [/"token_endpoint" is on http:\/\/localhost:\d+/],
    fix: () => '--allow-origin http://localhost',
  },
  {
    what: 'nobody is at the authorization endpoint',
    fault: ({ routes }) => {
      delete routes['GET /authorize'];
    },
    id: 'AS-ENDPOINTS-ANSWER',
    verdict: 'fail',
    names: ({ origin }) => [`${origin}/authorize`, '404'],
  },
  {
    what: 'pages cannot redeem codes',
    fault: ({ routes }) => {
      routes['OPTIONS /token'] = () => ({ status: 405 });
    },
    id: 'AS-CORS',
    verdict: 'warn',
    names: () => ['token_endpoint: OPTIONS is answered with 405'],
  },
  {
    what: 'PKCE is not announced',
    fault: (server) => publishIssuer(server, { code_challenge_methods_supported: undefined }),
    id: 'AS-PKCE',
    verdict: 'fail',
    names: () => ['missing', 'strict ones stop'],
    fix: () => '["S256"]',
  },
  {
    what: 'PKCE is announced with plain only',
    fault: (server) => publishIssuer(server, { code_challenge_methods_supported: ['plain'] }),
    id: 'AS-PKCE',
    verdict: 'fail',
    names: () => ['"plain"'],
  },
  {
    what: 'there are no codes',
    fault: (server) => publishIssuer(server, { response_types_supported: ['token'] }),
    id: 'AS-RESPONSE-TYPES',
    verdict: 'fail',
    names: () => ['"token"'],
  },
  {
    what: 'there are no refresh tokens',
    fault: (server) => publishIssuer(server, { grant_types_supported: ['authorization_code'] }),
    id: 'AS-GRANT-TYPES',
    verdict: 'warn',
    names: () => ['"authorization_code"', 'without refresh_token'],
  },
  {
    what: 'answers do not say who sent them',
    fault: (server) => publishIssuer(server, { authorization_response_iss_parameter_supported: undefined }),
    id: 'AS-ISS',
    verdict: 'warn',
    names: () => ['authorization_response_iss_parameter_supported', 'mix-up'],
  },
  {
    what: 'nobody can register',
    fault: (server) => publishIssuer(server, { registration_endpoint: undefined }),
    id: 'AS-REGISTRATION',
    verdict: 'fail',
    names: () => ['neither a registration_endpoint nor'],
    fix: () => '--client-id',
  },
  {
    what: 'public clients are not announced',
    fault: (server) =>
      publishIssuer(server, { token_endpoint_auth_methods_supported: ['client_secret_basic'] }),
    id: 'AS-CLIENT-AUTH',
    verdict: 'warn',
    names: () => ['"client_secret_basic"', 'without none'],
  },
  {
    what: 'the device flow is announced by half',
    fault: (server) => publishIssuer(server, { device_authorization_endpoint: `${server.origin}/device` }),
    id: 'AS-DEVICE',
    verdict: 'warn',
    names: () => ['device_code'],
  },
  {
    what: 'the key set cannot be loaded',
    fault: ({ routes }) => {
      delete routes['GET /jwks'];
    },
    id: 'AS-KEYS',
    verdict: 'fail',
    names: ({ origin }) => [`${origin}/jwks`],
  },
  {
    what: 'a private key is published',
    fault: (server) =>
      server.publish('GET /jwks', {
        keys: [{ ...server.key.publicJwk, d: 'c2VjcmV0LXBhcnQtb2YtdGhlLWtleQ' }],
      }),
    id: 'AS-KEYS',
    verdict: 'fail',
    names: () => ['"k1"', '"d"', 'private'],
    fix: () => 'Replace this key',
  },
  {
    what: 'several keys cannot be told apart',
    fault: (server) =>
      server.publish('GET /jwks', {
        keys: [server.key.publicJwk, { ...server.key.publicJwk, kid: undefined }],
      }),
    id: 'AS-KEYS',
    verdict: 'warn',
    names: () => ['no "kid"'],
  },
];

describe('a server with one fault: it is found, named and explained, and nothing else is', () => {
  it.each(faults)('$id: $what', async (one) => {
    const login = { kept: createMemoryStore() };
    await expectOneFault(one, [...passiveChecks, keptClientCheck], login);
  });
});
