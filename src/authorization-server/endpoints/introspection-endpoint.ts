import { formatScope } from '../../oauth/scope.ts';
import type { IssuedAccessToken, IssuedAccessTokens } from '../access-tokens.ts';
import { activeToken, tokenLeftToUs } from '../jwt/own-jwt.ts';
import type { ResourceRegistry } from '../resources.ts';
import type { Step } from './endpoint-guards.ts';

/** Options of the introspection endpoint. */
export interface IntrospectionEndpointOptions {
  issuer: string;
  /** As they are honoured: one whose login at an upstream has ended is none. */
  accessTokens: IssuedAccessTokens;
  resources: ResourceRegistry;
  /** Epoch seconds. */
  now: () => number;
}

/** A client, as far as it matters for what it may learn. */
interface AskingClient {
  clientId: string;
  /** Authentication method of the client. */
  method: string;
}

/**
 * Returns true if a client may introspect the tokens of a resource: the operator named the client as a server of that
 * resource, and the client authenticated. Nobody may introspect refresh tokens (T-052).
 */
export function mayIntrospect(
  { clientId, method }: AskingClient,
  audience: unknown,
  resources: ResourceRegistry,
): boolean {
  if (method === 'none' || typeof audience !== 'string') return false;
  return resources.find(audience)?.introspectedBy?.includes(clientId) === true;
}

/**
 * Creates the step around the engine's introspection endpoint. The engine declines access tokens that are JWTs, and
 * does not know exchanged tokens. This step responds for them from the rows written at issuance, so that a revoked
 * token is not active. No token is active after its login at an upstream has ended (A10-02).
 * @returns a step that throws TokenStatusUnknown if the state of the upstream login cannot be determined
 * @see RFC 7662 section 2
 */
export function createIntrospectionEndpoint(options: IntrospectionEndpointOptions): Step {
  const { issuer, accessTokens, resources, now } = options;
  return async (ctx, next) => {
    await next();
    const left = tokenLeftToUs(ctx);
    if (!left) {
      const known = activeToken(ctx);
      if (known !== undefined && !(await accessTokens.find(known))) ctx.body = { active: false };
      return;
    }
    const { clientId, method, token } = left;
    const issued = await accessTokens.find(token);
    const isActive =
      issued && issued.expiresAt > now() && mayIntrospect({ clientId, method }, issued.audience, resources);
    ctx.status = 200;
    ctx.body = isActive ? describeToken(issued, issuer) : { active: false };
  };
}

/** @see RFC 7662 section 2.2; RFC 9449 section 6.2 (`cnf`); RFC 8693 section 4.1 (`act`); RFC 9470 section 6.2 */
function describeToken(issued: IssuedAccessToken, issuer: string): Record<string, unknown> {
  const { subject, clientId, audience, scopes, issuedAt, expiresAt, keyThumbprint, actor, login } = issued;
  return {
    active: true,
    iss: issuer,
    sub: subject,
    client_id: clientId,
    aud: audience,
    scope: formatScope(scopes),
    iat: issuedAt,
    exp: expiresAt,
    ...(actor === undefined ? undefined : { act: actor }),
    ...login,
    token_type: keyThumbprint === undefined ? 'Bearer' : 'DPoP',
    ...(keyThumbprint === undefined ? undefined : { cnf: { jkt: keyThumbprint } }),
  };
}
