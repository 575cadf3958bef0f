import { formatScope } from '../../oauth/scope.ts';
import type { IssuedAccessToken, IssuedAccessTokens } from '../access-tokens.ts';
import { activeToken, tokenLeftToUs } from '../jwt/own-jwt.ts';
import type { ResourceRegistry } from '../resources.ts';
import type { Step } from './endpoint-guards.ts';

/** What the introspection endpoint works with. */
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
  /** How it authenticated itself. */
  method: string;
}

/**
 * Whether a client may learn about the tokens of a resource: it is a server of that resource by the word of the
 * operator, and has proved who it is. Nobody learns anything of refresh tokens (T-052).
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
 * Creates the step around the engine's introspection endpoint: access tokens that it declines, because they are JWTs, or
 * does not know, because it knows neither exchanged tokens nor the grant they came by, are answered from the rows that were
 * written when they were issued, so that a revoked one is not active. One whose login at an upstream has ended is not
 * active either, whoever answers (A10-02).
 * @returns a step that throws TokenStatusUnknown where nobody can tell
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

/** @see RFC 7662 section 2.2; RFC 9449 section 6.2 (`cnf`); RFC 8693 section 4.1 (`act`) */
function describeToken(issued: IssuedAccessToken, issuer: string): Record<string, unknown> {
  const { subject, clientId, audience, scopes, issuedAt, expiresAt, keyThumbprint, actor } = issued;
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
    token_type: keyThumbprint === undefined ? 'Bearer' : 'DPoP',
    ...(keyThumbprint === undefined ? undefined : { cnf: { jkt: keyThumbprint } }),
  };
}
