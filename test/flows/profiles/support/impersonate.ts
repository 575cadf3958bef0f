import { createHash, randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type {
  ClientProfile,
  ResourceSpelling,
} from '../../../../src/oauth/client-profiles/client-profile.ts';
import { authorizationServerMetadataUrls } from '../../../../src/oauth/well-known.ts';
import type { DocumentHost } from '../../../support/document-host.ts';
import { post } from '../../../support/oauth.ts';
import { decide } from '../../../support/person.ts';
import { shownCode } from '../../../support/refusal.ts';
import { createVisitor, type Visitor } from '../../../support/visitor.ts';
import type { Errand, Reply } from './refreshing-process.ts';

/** Where a client does not get further, and what it saw there. */
export class Stopped extends Error {
  override name = 'Stopped';
  readonly step: 'discovery' | 'registration' | 'authorization' | 'token' | 'call' | 'refresh';
  constructor(step: Stopped['step'], saw: string) {
    super(`stopped at ${step}: ${saw}`);
    this.step = step;
  }
}

/** What a client found out about a server. */
interface Found {
  resource: string;
  scope: string | undefined;
  issuerScopes: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  registrationEndpoint: string;
}

/** A login of a client, as it keeps it. */
export interface Kept {
  clientId: string;
  accessToken: string;
  refreshToken: string;
}

/** A client that behaves as its profile says. */
export interface Impersonated {
  /** Registers where it has no client id, has its person log in, and redeems the code. */
  logIn(known?: string): Promise<Kept>;
  /** Calls a tool; gives the account it runs as. */
  callTool(accessToken: string): Promise<void>;
  /** The request with which it refreshes. */
  refreshErrand(kept: Kept): Promise<Errand>;
  /** Notices in its own way that its client id is gone. */
  noticesUnknownClient(kept: Kept): Promise<boolean>;
}

const members = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

/** Gives what each of several replies to one refresh has in common. @throws Stopped where one was refused, or they differ */
export function agreeOn(replies: readonly Reply[]): { accessToken: string; refreshToken: string } {
  const refused = replies.find(({ status }) => status !== 200);
  if (refused) throw new Stopped('refresh', `${refused.status} ${refused.body.error}`);
  const distinct = new Set(replies.map(({ body }) => `${body.access_token} ${body.refresh_token}`));
  const [first] = replies;
  if (distinct.size !== 1 || !first) throw new Stopped('refresh', `${distinct.size} different answers`);
  return { accessToken: String(first.body.access_token), refreshToken: String(first.body.refresh_token) };
}

/**
 * Makes a client out of a profile: it walks the way of a login with the requests that are recorded there.
 * @param mcpUrl what its person entered
 * @param host where it publishes its metadata document, if it has one
 */
export function impersonate(
  profile: ClientProfile,
  mcpUrl: string,
  host: DocumentHost,
  person: Visitor = createVisitor(),
): Impersonated {
  const origin = profile.runsOn === 'page' ? new URL(profile.redirectUri).origin : undefined;
  const headers: Record<string, string> = {
    ...(profile.userAgent === undefined ? undefined : { 'user-agent': profile.userAgent }),
    ...(origin === undefined ? undefined : { origin }),
  };

  /** A request; a page reads the answer only where CORS lets it. */
  async function ask(url: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(url, { ...init, headers: { ...headers, ...init.headers } });
    const allowed = response.headers.get('access-control-allow-origin');
    if (origin !== undefined && allowed !== '*' && allowed !== origin)
      throw new Stopped('discovery', `CORS: ${url} answers for ${allowed}`);
    return response;
  }

  function spell(resource: string, leg: number): string {
    const { resourceSpellings } = profile;
    const spelling: ResourceSpelling = resourceSpellings[leg % resourceSpellings.length] ?? 'published';
    return { published: resource, slash: `${resource}/`, origin: new URL(resource).origin }[spelling];
  }

  async function discover(): Promise<Found> {
    const refused = await ask(mcpUrl, { method: 'POST', body: '{}' });
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const place = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
    if (refused.status !== 401 || place === undefined) throw new Stopped('discovery', `${refused.status}`);
    const { resource, authorization_servers: servers } = await members(await ask(place));
    const [metadataUrl = ''] = authorizationServerMetadataUrls(String((servers as string[])[0]));
    const metadata = await members(await ask(metadataUrl));
    return {
      resource: String(resource),
      scope: /scope="([^"]+)"/.exec(challenge)?.[1],
      issuerScopes: (metadata.scopes_supported as string[]).join(' '),
      authorizationEndpoint: String(metadata.authorization_endpoint),
      tokenEndpoint: String(metadata.token_endpoint),
      registrationEndpoint: String(metadata.registration_endpoint),
    };
  }

  async function register(found: Found): Promise<string> {
    if (profile.document) return host.publish(`/${profile.name}.json`, profile.document);
    const response = await ask(found.registrationEndpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: profile.title, ...profile.registrationBody }),
    });
    const body = await members(response);
    if (response.status !== 201) throw new Stopped('registration', `${response.status} ${body.error}`);
    return String(body.client_id);
  }

  function authorizationUrl(found: Found, clientId: string, verifier: string, state: string): string {
    const scope = { challenge: found.scope, issuer: found.issuerScopes, nobody: undefined }[
      profile.asksScopesOf
    ];
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: profile.redirectUri,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
      resource: spell(found.resource, 0),
      ...(scope === undefined ? undefined : { scope }),
    });
    return `${found.authorizationEndpoint}?${query}`;
  }

  async function authorize(found: Found, clientId: string, verifier: string): Promise<string> {
    const state = randomBytes(16).toString('base64url');
    const url = authorizationUrl(found, clientId, verifier, state);
    const first = await person.open(url);
    if (first.response.status !== 200)
      throw new Stopped('authorization', `${first.response.status} ${shownCode(first.html)}`);
    const callback = await decide(url, { visitor: person });
    const { code, state: returned, error } = Object.fromEntries(callback.searchParams);
    if (code === undefined || returned !== state) throw new Stopped('authorization', `${error}`);
    return code;
  }

  return {
    async logIn(known) {
      const found = await discover();
      const clientId = known ?? (await register(found));
      const verifier = randomBytes(32).toString('base64url');
      const code = await authorize(found, clientId, verifier);
      const response = await post(
        found.tokenEndpoint,
        {
          grant_type: 'authorization_code',
          client_id: clientId,
          redirect_uri: profile.redirectUri,
          code_verifier: verifier,
          code,
          resource: spell(found.resource, 1),
        },
        headers,
      );
      const body = await members(response);
      if (response.status !== 200) throw new Stopped('token', `${response.status} ${body.error}`);
      if (body.refresh_token === undefined) throw new Stopped('token', 'no refresh token');
      return {
        clientId,
        accessToken: String(body.access_token),
        refreshToken: String(body.refresh_token),
      };
    },
    async callTool(accessToken) {
      const client = new Client({ name: profile.name, version: profile.observed });
      const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
        requestInit: { headers: { ...headers, authorization: `Bearer ${accessToken}` } },
      });
      try {
        await client.connect(transport);
        const { isError } = await client.callTool({ name: 'whoami' });
        if (isError) throw new Stopped('call', 'an error');
      } catch (error) {
        throw error instanceof Stopped ? error : new Stopped('call', String(error));
      } finally {
        await client.close();
      }
    },
    async refreshErrand({ clientId, refreshToken }) {
      const found = await discover();
      return {
        url: found.tokenEndpoint,
        headers,
        form: {
          grant_type: 'refresh_token',
          client_id: clientId,
          refresh_token: refreshToken,
          resource: spell(found.resource, 2),
        },
      };
    },
    async noticesUnknownClient(kept) {
      const found = await discover();
      const url = authorizationUrl(found, kept.clientId, 'x'.repeat(43), 'state');
      switch (profile.registersAgain) {
        case 'each_time':
          return true;
        case 'on_invalid_client': {
          const errand = await this.refreshErrand(kept);
          const response = await post(errand.url, errand.form, headers);
          return response.status === 401 && (await members(response)).error === 'invalid_client';
        }
        case 'after_preflight': {
          const response = await ask(url, { headers: { accept: 'application/json' }, redirect: 'manual' });
          return (await members(response)).error === 'invalid_client';
        }
        case 'by_hand': {
          const { response, html } = await createVisitor().open(url);
          return response.status === 400 && shownCode(html) === 'invalid_client';
        }
      }
    },
  };
}
