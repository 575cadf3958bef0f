import type { GuardedResource } from '../app/app.ts';
import { type Page, wantsPage } from '../app/page.ts';
import type { AuthorizationServer } from '../authorization-server/index.ts';
import { protectedResourceMetadataUrl } from '../oauth/well-known.ts';
import type { NormalizedServer } from '../protected-server.ts';
import {
  buildProtectedResource,
  createRequireBearer,
  type DpopPolicy,
  type TokenVerifier,
} from '../resource-server/index.ts';
import type { OwnResource } from './resources.ts';

/** What stands in front of the protected resources that are served here. */
export interface GuardParts {
  issuer: string;
  /** Their identifiers. */
  own: Record<OwnResource, string>;
  server: Pick<NormalizedServer, 'name' | 'baselineScopes'>;
  verifier: TokenVerifier;
  dpop: DpopPolicy;
  /** Renders the page for a person who opens the MCP URL, in the languages of the browser. */
  renderPage: (acceptLanguage: string) => Page;
  /** Which grants stand behind tokens, and whether they are used. */
  grants: Pick<AuthorizationServer, 'acceptedCalls' | 'isServerChosen'>;
}

/** Composes, for each protected resource served here, its metadata document and the bearer check (RFC 9728, RFC 6750). */
export function composeGuards(parts: GuardParts): Record<OwnResource, GuardedResource> {
  const { issuer, own, server, verifier, dpop, grants, renderPage } = parts;
  const { name, baselineScopes } = server;
  const guard = (resource: string): GuardedResource => ({
    metadata: buildProtectedResource({
      resource,
      authorizationServers: [issuer],
      scopesSupported: baselineScopes,
      name,
      dpop,
    }),
    requireBearer: createRequireBearer({
      verifier,
      resource,
      sameServer: Object.values(own),
      isServerChosen: async ({ grantId }) => grantId !== undefined && grants.isServerChosen(grantId),
      acceptedCalls: grants.acceptedCalls,
      renderPage: (ctx) => (wantsPage(ctx) ? renderPage(ctx.get('Accept-Language')) : undefined),
      resourceMetadataUrl: protectedResourceMetadataUrl(resource),
      baselineScopes,
      dpop,
    }),
  });
  return { mcp: guard(own.mcp), sse: guard(own.sse), rest: guard(own.rest) };
}
