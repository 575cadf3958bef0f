import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import { createWriteBatcher } from '../net/write-batcher.ts';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { fieldValues } from '../oauth/headers.ts';
import type { BearerRefusal } from './challenge.ts';
import type { DpopPolicy } from './dpop/verify-proof.ts';
import type { TokenVerifier } from './token-verifier.ts';
import { type ResourcePolicy, verifyRequest } from './verify-request.ts';

/** State that the middleware sets for later ones. */
export interface BearerState {
  authInfo: AuthInfo;
}

/** Options of {@link createRequireBearer}. */
export interface RequireBearerOptions {
  verifier: TokenVerifier;
  /** Identifier of the resource. */
  resource: string;
  /** Identifiers of the same server over other transports, whose tokens are accepted as well; none by default. */
  sameServer?: readonly string[];
  /** Returns true if the user chose the server of the token; always false by default. */
  isServerChosen?: (caller: AuthInfo) => Promise<boolean>;
  /** Records accepted calls while that is needed. */
  acceptedCalls?: { readonly isNeeded: boolean; note(grantId: string | undefined): void };
  /** URL of the protected resource metadata. */
  resourceMetadataUrl: string;
  /** Scopes to request if the client has no token yet. */
  baselineScopes: readonly string[];
  /** Scopes that every request requires; none by default. */
  requiredScopes?: readonly string[];
  /** Policy for DPoP-bound tokens; undefined rejects them. */
  dpop?: DpopPolicy;
  /** Returns true if the proof of a request was recorded as used by another node, which forwards the request. */
  isProofRecorded?: (request: IncomingMessage) => boolean;
  /** Renders a page instead of JSON for a user who opens the URL in a browser; returns undefined for programs. */
  renderPage?: (ctx: Context) => { headers: Readonly<Record<string, string>>; html: string } | undefined;
}

/**
 * Creates the Koa middleware that requires a valid access token, with a DPoP proof if the token is bound, and stores
 * the caller in `ctx.state.authInfo`. Every method is protected except OPTIONS, which carries no credentials (a CORS
 * preflight). A refusal is written at once, so earlier middleware must set its headers before it calls `next`.
 * @see RFC 6750; RFC 9449 section 7; MCP authorization "Access Token Usage"
 */
export function createRequireBearer(options: RequireBearerOptions): Middleware {
  const policy: ResourcePolicy = {
    ...options,
    requiredScopes: options.requiredScopes ?? [],
    baselineScopes: options.baselineScopes.filter((scope) => scope !== 'offline_access'),
  };
  const { acceptedCalls } = options;
  const sendTogether = createWriteBatcher();
  return async (ctx, next): Promise<void> => {
    if (ctx.method === 'OPTIONS') return next();
    const authorization = fieldValues(ctx.req.rawHeaders, 'authorization');
    const proven = () => ({
      method: ctx.method,
      target: ctx.originalUrl,
      proofs: fieldValues(ctx.req.rawHeaders, 'dpop'),
      isRecorded: options.isProofRecorded?.(ctx.req) ?? false,
    });
    const verdict = await verifyRequest({ authorization, query: ctx.querystring, proven }, policy);
    if (verdict.nextNonce !== undefined) ctx.set('DPoP-Nonce', verdict.nextNonce);
    if ('refusal' in verdict) {
      const isVisit = ctx.method === 'GET' && verdict.refusal.reason === 'no_credentials';
      const page = isVisit ? options.renderPage?.(ctx) : undefined;
      if (page) return answerWithPage(ctx, verdict.refusal, page);
      ctx.respond = false;
      writeHead(verdict.refusal, ctx.res);
      sendTogether(() => ctx.res.end(verdict.refusal.body));
      return;
    }
    if (acceptedCalls?.isNeeded) acceptedCalls.note(verdict.authInfo.grantId);
    (ctx.state as BearerState).authInfo = verdict.authInfo;
    await next();
  };
}

/** Responds with a page; the challenge stays, for programs that accept HTML. */
function answerWithPage(
  ctx: Context,
  { status, challenge }: BearerRefusal,
  page: { headers: Readonly<Record<string, string>>; html: string },
): void {
  ctx.status = status;
  ctx.set({ ...page.headers, 'WWW-Authenticate': challenge });
  ctx.vary(['Accept', 'Accept-Language', 'Authorization']);
  ctx.type = 'html';
  ctx.body = page.html;
}

/** Writes the cached refusal without Koa: a flood of invalid tokens costs little. */
function writeHead({ status, challenge, body }: BearerRefusal, response: ServerResponse): void {
  response.writeHead(status, {
    'WWW-Authenticate': challenge,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
}
