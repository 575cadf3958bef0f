// @cloudflare/workers-oauth-provider outside of a worker: a stand-in for its KV namespace; consent is given at once.
import { register } from 'node:module';
import { listen, port } from './listen.ts';
import { serveMcp } from './mcp-server.ts';

const workersModule =
  'export class WorkerEntrypoint { constructor(ctx, env) { this.ctx = ctx; this.env = env } }; export const env = {}';
const hook = `export async function resolve(name, context, next) {
  return name === 'cloudflare:workers'
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(workersModule)}`)}, shortCircuit: true }
    : next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const { AuthorizationError, OAuthProvider } = await import('@cloudflare/workers-oauth-provider');

/** As much of a KV namespace as the library uses. */
class KeyValues {
  readonly #entries = new Map<string, { text: string; endsAt: number }>();

  async get(key: string, how?: string | { type?: string }): Promise<unknown> {
    const entry = this.#entries.get(key);
    if (!entry || entry.endsAt < Date.now()) return null;
    return (typeof how === 'string' ? how : how?.type) === 'json' ? JSON.parse(entry.text) : entry.text;
  }

  async put(
    key: string,
    text: string,
    { expirationTtl = 1e9 }: { expirationTtl?: number } = {},
  ): Promise<void> {
    this.#entries.set(key, { text, endsAt: Date.now() + expirationTtl * 1000 });
  }

  async delete(key: string): Promise<void> {
    this.#entries.delete(key);
  }

  async list({ prefix = '' } = {}): Promise<{ keys: { name: string }[]; list_complete: boolean }> {
    const names = [...this.#entries.keys()].filter((key) => key.startsWith(prefix));
    return { keys: names.map((name) => ({ name })), list_complete: true };
  }
}

/** Who asked wrongly is told at the client, where that is known to be the client's; else here. */
function refuse(error: unknown): Response {
  if (!(error instanceof AuthorizationError)) throw error;
  const { redirectTo, description } = error;
  return redirectTo === undefined
    ? new Response(description, { status: 400 })
    : new Response(null, { status: 302, headers: { location: redirectTo } });
}

interface Helpers {
  parseAuthRequest(request: Request): Promise<{ scope: string[] }>;
  completeAuthorization(options: object): Promise<{ redirectTo: string }>;
}

const origin = `http://127.0.0.1:${port}`;
const environment = { OAUTH_KV: new KeyValues() };
const provider = new OAuthProvider({
  apiRoute: '/mcp',
  apiHandler: { fetch: (request: Request) => serveMcp(request) },
  defaultHandler: {
    async fetch(request: Request, env: unknown) {
      if (new URL(request.url).pathname !== '/authorize') return new Response('Not found', { status: 404 });
      const { OAUTH_PROVIDER: helpers } = env as { OAUTH_PROVIDER: Helpers };
      const wanted = await helpers.parseAuthRequest(request).catch(refuse);
      if (wanted instanceof Response) return wanted;
      const { redirectTo } = await helpers.completeAuthorization({
        request: wanted,
        userId: 'person',
        metadata: {},
        scope: wanted.scope,
        props: {},
      });
      return new Response(null, { status: 302, headers: { location: redirectTo } });
    },
  },
  authorizeEndpoint: '/authorize',
  tokenEndpoint: '/token',
  clientRegistrationEndpoint: '/register',
  scopesSupported: ['mcp:tools', 'offline_access'],
  requiredScopes: ['mcp:tools'],
  resourceMetadata: { resource: `${origin}/mcp`, authorization_servers: [origin] },
} as never);
const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
listen(
  origin,
  (request) => provider.fetch(request as never, environment as never, execution as never) as never,
);
