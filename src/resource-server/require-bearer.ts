import type { ServerResponse } from 'node:http';
import type { Context, Middleware } from 'koa';
import { createCoalescer } from '../net/coalescer.ts';
import type { AuthInfo } from '../oauth/auth-info.ts';
import { fieldValues } from '../oauth/field-values.ts';
import type { BearerRefusal } from './challenge.ts';
import type { DpopPolicy } from './dpop/verify-proof.ts';
import type { TokenVerifier } from './token-verifier.ts';
import { type ResourcePolicy, verifyRequest } from './verify-request.ts';

/** What the middleware leaves for those behind it. */
export interface BearerState {
  authInfo: AuthInfo;
}

/** What a bearer-protected path needs. */
export interface RequireBearerOptions {
  verifier: TokenVerifier;
  /** The resource's own identifier. */
  resource: string;
  /** Identifiers of the same server over other transports, tokens for which are good as well; none by default. */
  sameServer?: readonly string[];
  /** Whether the server of a token was chosen by the person; never by default. */
  isServerChosen?: (caller: AuthInfo) => Promise<boolean>;
  /** Takes note of accepted calls, if that is needed. */
  acceptedCalls?: { readonly isNeeded: boolean; note(grantId: string | undefined): void };
  /** Where its metadata document stands. */
  resourceMetadataUrl: string;
  /** Scopes to ask for when the client has no token yet. */
  baselineScopes: readonly string[];
  /** Scopes every request must have; none by default. */
  requiredScopes?: readonly string[];
  /** How tokens that are bound to a key are taken; not at all where this is undefined. */
  dpop?: DpopPolicy;
  /** Renders a page in place of the JSON for a person who opens the address in a browser; undefined for programs. */
  renderPage?: (ctx: Context) => { headers: Readonly<Record<string, string>>; html: string } | undefined;
}

/**
 * Creates the Koa middleware that lets only those with a good token pass, and with a proof where it is bound to a key, and
 * puts who they are on `ctx.state.authInfo`. Every method is guarded but OPTIONS, which carries no credentials (a CORS
 * preflight). A refusal is written at once: a step in front of it sets its headers before it calls `next`, not after.
 * @see RFC 6750; RFC 9449 section 7; MCP authorization "Access Token Usage"
 */
export function createRequireBearer(options: RequireBearerOptions): Middleware {
  const policy: ResourcePolicy = {
    ...options,
    requiredScopes: options.requiredScopes ?? [],
    baselineScopes: options.baselineScopes.filter((scope) => scope !== 'offline_access'),
  };
  const { acceptedCalls } = options;
  const sendTogether = createCoalescer();
  return async (ctx, next): Promise<void> => {
    if (ctx.method === 'OPTIONS') return next();
    const authorization = fieldValues(ctx.req.rawHeaders, 'authorization');
    const proven = () => ({
      method: ctx.method,
      target: ctx.originalUrl,
      proofs: fieldValues(ctx.req.rawHeaders, 'dpop'),
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

/** Answers a person; the challenge stays, for programs that say they want a page. */
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

/** Answers without Koa: a flood of bad tokens is told the same words each time, which are put together once. */
function writeHead({ status, challenge, body }: BearerRefusal, response: ServerResponse): void {
  response.writeHead(status, {
    'WWW-Authenticate': challenge,
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
}
