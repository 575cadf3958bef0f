import { createHash, randomBytes } from 'node:crypto';
import { ada, type RunningGatehouse } from './gatehouse.ts';
import { createVisitor, type Visitor } from './visitor.ts';

/** What a client holds while it authorizes. */
export interface Flow {
  clientId: string;
  redirectUri: string;
  verifier: string;
  state: string;
  url: string;
}

/** What the token endpoint gave. */
export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
}

export const redirectUri = 'http://127.0.0.1:53682/callback';

/** Registers a client as a native MCP client does; `metadata` over the defaults. */
export async function register(
  url: string,
  metadata: Record<string, unknown> = {},
): Promise<Record<string, unknown> & { client_id: string }> {
  const response = await fetch(`${url}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'A test client', redirect_uris: [redirectUri], ...metadata }),
  });
  if (response.status !== 201) throw new Error(`registration: ${response.status} ${await response.text()}`);
  return (await response.json()) as { client_id: string };
}

/** Builds an authorization request; `parameters` over the defaults, an undefined one leaves the default out. */
export function authorization(
  { url, mcpUrl }: Pick<RunningGatehouse, 'url' | 'mcpUrl'>,
  clientId: string,
  parameters: Record<string, string | undefined> = {},
): Flow {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    resource: mcpUrl,
    scope: 'notes:read notes:write',
    ...parameters,
  };
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    clientId,
    redirectUri: query.redirect_uri ?? redirectUri,
    verifier,
    state,
    url: `${url}/authorize?${new URLSearchParams(given)}`,
  };
}

/** Opens an authorization request and logs in where that is asked; gives the consent page. */
export async function openConsent(
  flow: Pick<Flow, 'url'>,
  visitor: Visitor,
  person: { email: string; password: string } = ada,
  chooseServer?: (html: string) => [string, string][],
): Promise<{ response: Response; url: string; html: string }> {
  let page = await visitor.open(flow.url);
  const server = page.html.includes('/server"') ? (chooseServer?.(page.html) ?? []) : [];
  if (server.length > 0) page = await visitor.submit(page, '/server', [['decision', 'choose'], ...server]);
  if (!page.html.includes('name="password"')) return page;
  return visitor.submit(page, '/login', [
    ['email', person.email],
    ['password', person.password],
  ]);
}

/** Logs in and consents as a person would; gives the URL the client is sent. */
export async function approve(
  flow: Flow,
  {
    visitor = createVisitor(),
    person = ada,
    scopes = ['notes:read', 'notes:write'],
    fields: more = [],
  }: {
    visitor?: Visitor;
    person?: { email: string; password: string };
    scopes?: string[];
    /** What else is chosen on the consent page. */
    fields?: [string, string][];
  } = {},
): Promise<URL> {
  const page = await openConsent(flow, visitor, person);
  const fields: [string, string][] = [
    ['decision', 'allow'],
    ...scopes.map((scope): [string, string] => ['scope', scope]),
    ...more,
  ];
  const { response } = await visitor.submit(page, '/consent', fields);
  const location = response.headers.get('location');
  if (!location) throw new Error(`no redirect to the client: ${response.status}`);
  return new URL(location);
}

/** Posts a form to an endpoint. */
export function post(
  url: string,
  fields: Record<string, string> | [string, string][],
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

/** Redeems the code of a callback. */
export function redeem(
  url: string,
  flow: Flow,
  code: string,
  fields: Record<string, string> = {},
): Promise<Response> {
  return post(`${url}/token`, {
    grant_type: 'authorization_code',
    client_id: flow.clientId,
    redirect_uri: flow.redirectUri,
    code_verifier: flow.verifier,
    code,
    ...fields,
  });
}

/** Refreshes. */
export function refresh(
  url: string,
  clientId: string,
  refreshToken: string,
  fields: Record<string, string> = {},
): Promise<Response> {
  return post(`${url}/token`, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    ...fields,
  });
}

/** The whole way: registration, login, consent, redemption. */
export async function obtainTokens(
  gatehouse: Pick<RunningGatehouse, 'url' | 'mcpUrl'>,
  options: Parameters<typeof approve>[1] & {
    clientId?: string;
    /** Sent with the redemption too. */
    clientSecret?: string;
    scope?: string;
  } = {},
): Promise<{ clientId: string; tokens: Tokens; flow: Flow; code: string }> {
  const clientId = options.clientId ?? (await register(gatehouse.url)).client_id;
  const flow = authorization(
    gatehouse,
    clientId,
    options.scope === undefined ? {} : { scope: options.scope },
  );
  const code = (await approve(flow, options)).searchParams.get('code') ?? '';
  const { clientSecret } = options;
  const response = await redeem(
    gatehouse.url,
    flow,
    code,
    clientSecret === undefined ? {} : { client_secret: clientSecret },
  );
  if (response.status !== 200) throw new Error(`redemption: ${response.status} ${await response.text()}`);
  return { clientId, flow, code, tokens: (await response.json()) as Tokens };
}

/** Whether the MCP endpoint takes this access token: the status of a harmless call. */
export async function tryAccess(mcpUrl: string, accessToken: string): Promise<number> {
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    }),
  });
  await response.body?.cancel();
  return response.status;
}
