import type Provider from 'oidc-provider';
import { type Client, errors, type KoaContextWithOIDC, type ResourceServerInstance } from 'oidc-provider';
import { formatScope } from '../../oauth/scope.ts';
import type { ProtectedResource } from '../resources.ts';
import { checkDpopReplay, resolveRequestedResources, validateDpop } from './engine-internals.ts';

/** A token request of a grant that is ours: its client has been authenticated, and may use the grant. */
export interface GrantRequest {
  ctx: KoaContextWithOIDC;
  provider: Provider;
  client: Client;
  /** Returns a parameter; undefined if it is absent or repeated. */
  parameter: (name: string) => string | undefined;
}

/** A grant that the engine does not know (RFC 6749 section 4.5). */
export interface OwnGrant {
  name: string;
  parameters: readonly string[];
  /** Judges the request and issues; throws an error of the engine for what is refused. */
  handle: (request: GrantRequest) => Promise<void>;
}

/** Adds a grant of ours to the engine, which authenticates the client first and looks whether it may use it. */
export function addGrant(provider: Provider, { name, parameters, handle }: OwnGrant): void {
  provider.registerGrantType(
    name,
    async (ctx) => {
      const parameter = (asked: string) => {
        const value: unknown = (ctx.oidc.params as Record<string, unknown>)[asked];
        return typeof value === 'string' && value !== '' ? value : undefined;
      };
      await handle({ ctx, provider, client: ctx.oidc.client, parameter });
    },
    parameters,
  );
}

/** An access token that is ready to be bound, kept and given out. */
type Issuable = InstanceType<Provider['AccessToken']> | InstanceType<Provider['ClientCredentials']>;

/** The resource as the engine knows it, in place of what the request names. */
export async function resourceServer(
  { ctx, provider }: GrantRequest,
  { resource }: ProtectedResource,
): Promise<ResourceServerInstance> {
  Object.assign(ctx.oidc.params ?? {}, { resource });
  const [found] = await resolveRequestedResources(provider, ctx);
  if (!found) throw new Error('the engine does not know a resource of the registry');
  return found;
}

/**
 * Binds a token to the key of the DPoP proof if the request has one (RFC 9449 section 5), stores it in the commit of
 * the request, and responds with it (RFC 6749 section 5.1). The response has no refresh token.
 * @param members additional members of the response
 * @param keyThumbprint the key that the request must prove, if the presented token is bound to one
 * @throws errors.InvalidDpopProof
 */
export async function issueToken(
  { ctx, provider, client }: GrantRequest,
  token: Issuable,
  scopes: readonly string[],
  members: Readonly<Record<string, string>> = {},
  keyThumbprint?: string,
): Promise<void> {
  const proof = await validateDpop(provider, ctx);
  if (keyThumbprint !== undefined && proof?.thumbprint !== keyThumbprint)
    throw new errors.InvalidDpopProof('the assertion is bound to a key (cnf): send a DPoP proof of that key');
  if (proof) {
    await checkDpopReplay(provider, ctx, proof, client.clientId);
    token.setThumbprint('jkt', proof.thumbprint);
  }
  token.scope = formatScope(scopes);
  ctx.oidc.entity(token.kind, token);
  ctx.body = {
    ...members,
    access_token: await token.save(),
    token_type: token.tokenType,
    expires_in: token.expiration,
    scope: token.scope,
  };
}
