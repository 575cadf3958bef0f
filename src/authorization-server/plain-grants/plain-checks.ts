import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { Client } from 'oidc-provider';
import served from 'oidc-provider/lib/helpers/als.js';
import { equalSecrets } from '../../crypto/secret.ts';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import type { AccountStore } from '../../storage/accounts.ts';
import type { ClientStore } from '../../storage/clients.ts';
import type { Adapters } from '../engine/adapter.ts';
import type { ConsentedScopes } from '../engine/granted-scopes.ts';
import type { ProtectedResource, ResourceRegistry } from '../resources.ts';
import type { PlainRequest } from './plain-request.ts';
import { isPlainSource, type PlainCode, type PlainSource } from './plain-source.ts';

/** What the checks look things up in. */
export interface PlainCheckOptions {
  /** Finds clients, as the engine takes them. */
  provider: Pick<Provider, 'Client'>;
  /** The engine's adapters, by the name of the model. */
  adapters: Adapters;
  accounts: Pick<AccountStore, 'find'>;
  clients: Pick<ClientStore, 'find'>;
  resources: ResourceRegistry;
  /** Epoch seconds. */
  now: () => number;
}

/** A grant that a request may have: everything was checked. */
export interface PlainAllowance {
  client: Client;
  source: PlainSource;
  resource: ProtectedResource;
  /** The scopes of the access token: what was granted, as far as the resource still has it. */
  scope: string;
  /** When the consent ends, epoch seconds. */
  grantEnds: number;
}

const verifierShape = /^[\w.~-]{43,128}$/;

/** RFC 7636 section 4.6, and RFC 6749 section 4.1.3: the redirect URI is the one the code went to. */
function fitsCode(code: PlainCode, { parameter }: PlainRequest): boolean {
  const verifier = parameter('code_verifier');
  return (
    code.codeChallengeMethod === 'S256' &&
    verifierShape.test(verifier) &&
    equalSecrets(code.codeChallenge, hash('sha256', verifier, 'base64url')) &&
    code.redirectUri === parameter('redirect_uri')
  );
}

/** The scopes of a resource that were asked for, that it still has and that a consent covers, in the order of the consent. */
function grantedScope(
  { resources, rejected }: ConsentedScopes,
  asked: readonly string[],
  { resource, scopes }: ProtectedResource,
): string {
  const refused = new Set(parseScope(rejected?.resources?.[resource]));
  const wanted = new Set(asked.filter((scope) => Object.hasOwn(scopes, scope) && !refused.has(scope)));
  return formatScope(parseScope(resources?.[resource]).filter((scope) => wanted.has(scope)));
}

/**
 * Creates the checks of a plain token request. They say yes or nothing: what is refused, and why, the engine says.
 * @returns gives what the request may have; undefined if any check does not hold
 */
export function createPlainChecks(options: PlainCheckOptions) {
  const { provider, adapters, accounts, clients, resources, now } = options;
  const grants = adapters('Grant');
  const sources = {
    AuthorizationCode: adapters('AuthorizationCode'),
    RefreshToken: adapters('RefreshToken'),
  } as const;

  /** Clients as the engine took them, for as long as the very bytes they are made of are kept. */
  const taken = new WeakMap<Uint8Array, Client>();
  async function findClient(ctx: Context, id: string): Promise<Client | undefined> {
    const row = await clients.find(id);
    const known = row?.status === 'approved' ? taken.get(row.payload) : undefined;
    if (known) return known;
    // As in the engine, the store of clients sees the request: a document is fetched on account of its address, and once
    // (T-076).
    const client = await served.run(ctx, () => provider.Client.find(id));
    if (client && row) taken.set(row.payload, client);
    return client;
  }

  return async (
    ctx: Context,
    request: PlainRequest,
    kind: PlainSource['kind'],
    grantType: string,
    value: string,
  ): Promise<PlainAllowance | undefined> => {
    const { clientId } = request;
    // Public clients say who they are; others prove it (RFC 6749 section 3.2.1).
    const client = await findClient(ctx, clientId);
    if (client?.clientAuthMethod !== 'none' || client.clientId !== clientId) return undefined;
    // A client uses the grants it registered (RFC 7591 section 2), and its tokens are bound where it says so (RFC 9449 section 5.2).
    if (!client.grantTypeAllowed(grantType)) return undefined;
    if (client.dpopBoundAccessTokens || client.tlsClientCertificateBoundAccessTokens) return undefined;

    // There is such a code or refresh token, it is unused as far as we know, its client's, and not expired (section 5.2).
    const found = await sources[kind].find(value);
    if (!isPlainSource(found || undefined, kind)) return undefined;
    const source = found as PlainSource;
    if (source.jti !== value || source.clientId !== clientId || source.exp <= now()) return undefined;
    if (source.kind === 'AuthorizationCode' && !fitsCode(source, request)) return undefined;

    // The consent stands, and is of this client and account; so does the account (RFC 9700 section 4.14.2).
    const grant = await grants.find(source.grantId);
    if (!grant || grant.rar !== undefined) return undefined;
    const grantEnds = Number(grant.exp);
    if (grant.clientId !== clientId || grant.accountId !== source.accountId || !(grantEnds > now()))
      return undefined;
    const account = await accounts.find(source.accountId);
    if (!account || account.disabledAt !== undefined) return undefined;

    // The resource is the one that was granted, and its tokens are opaque ones for any bearer (RFC 8707 section 2.2).
    if (request.resource !== undefined && request.resource !== source.resource) return undefined;
    const resource = resources.find(source.resource);
    if (resource?.resource !== source.resource) return undefined;
    if (resource.accessTokenFormat === 'jwt' || resource.dpopRequired) return undefined;

    // No more than was granted (RFC 6749 section 6). An ID token is made elsewhere.
    const asked = parseScope(source.scope);
    const scope = grantedScope(grant as ConsentedScopes, asked, resource);
    if (asked.includes('openid') || scope === '') return undefined;
    return { client, source, resource, scope, grantEnds };
  };
}
