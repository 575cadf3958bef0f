import type { Context } from 'koa';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { AccountStore } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import type { Endpoint, Step } from '../endpoints/endpoint-guards.ts';
import { takeOwnForm } from '../interactions/form.ts';
import { navigate, showPage } from '../interactions/page.ts';
import type { EndpointLimit } from '../limits.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderNote } from '../views/layout.ts';
import { renderLogout } from '../views/logout.ts';

/** Paths of the logout below the issuer. */
export const logoutPaths = {
  page: '/session/end',
  confirm: '/session/end/confirm',
  done: '/session/end/success',
} as const;

/** Parts of the endpoints. */
export interface LogoutEndpointOptions {
  audit: AuditLog;
  /** Issuer identifier. */
  issuer: string;
  /** In front of what begins a logout, and of the other pages. */
  limits: Record<'beginnings' | 'pages', EndpointLimit>;
  inOneCommit: Step;
  /** Ignores the browser's earlier login if a cookie alone proves no login. */
  ignoreEarlier: Step;
  /** Deletes the login cookie of the account pages, if they have their own. */
  forgetLogin: (ctx: Context) => void;
  /** The engine's endpoint at a path. */
  at: (path: string) => Step;
}

/**
 * Drops the redirect URI of a logout request without an ID token of this server. Anybody can register a client and name
 * its id, so the redirect would be an open redirector (OpenID Connect RP-Initiated Logout 1.0 section 3; T-122).
 */
const dropUnprovenRedirect: Step = async (ctx, next) => {
  const { post_logout_redirect_uri: _unproven, ...query } = ctx.query;
  if (ctx.query.id_token_hint === undefined) ctx.query = query;
  await next();
};

/** Shows the confirmation page also if no user is logged in: the engine would submit its form by a script. */
function askNobodyToo(action: string): Step {
  return async (ctx, next) => {
    await next();
    if (ctx.status === 200 && ctx.state.logoutShown !== true)
      showLogout(ctx as unknown as KoaContextWithOIDC, action, undefined);
  };
}

/** Notes who logged out; who rather stays is not told the contrary, and goes to our first page. */
function concludeLogout(issuer: string, audit: AuditLog, forgetLogin: (ctx: Context) => void): Step {
  return async (ctx, next) => {
    await next();
    if (ctx.status !== 303) return;
    const { session, params } = (ctx as unknown as KoaContextWithOIDC).oidc;
    if (params?.logout) {
      audit('session.ended', ctx, { accountId: session?.accountId });
      forgetLogin(ctx);
    } else if (ctx.response.get('Location').startsWith(`${issuer}${logoutPaths.done}`))
      ctx.set('Location', `${issuer}/`);
    navigate(ctx, ctx.response.get('Location'));
  };
}

const showDone: Step = async (ctx) => {
  const texts = textsFor(ctx);
  showPage(ctx, renderNote(texts, texts.logout.done));
};

/**
 * The endpoints of the logout, with every check of them from first to last. A GET shows a page and ends nothing; the
 * form on it does (T-016, T-122).
 */
export function createLogoutEndpoints(options: LogoutEndpointOptions): Readonly<Record<string, Endpoint>> {
  const { audit, issuer, limits, inOneCommit, ignoreEarlier, forgetLogin, at } = options;
  const action = `${issuer}${logoutPaths.confirm}`;
  return {
    [logoutPaths.page]: {
      methods: ['GET'],
      limits: [limits.beginnings],
      steps: [dropUnprovenRedirect, ignoreEarlier, inOneCommit, askNobodyToo(action), at(logoutPaths.page)],
    },
    [logoutPaths.confirm]: {
      methods: ['POST'],
      limits: [limits.pages],
      steps: [
        takeOwnForm(new URL(issuer).origin),
        ignoreEarlier,
        concludeLogout(issuer, audit, forgetLogin),
        inOneCommit,
        at(logoutPaths.confirm),
      ],
    },
    [logoutPaths.done]: { methods: ['GET'], limits: [limits.pages], steps: [showDone] },
  };
}

type Logout = NonNullable<NonNullable<Configuration['features']>['rpInitiatedLogout']>;

/**
 * Shows the logout page for a request the engine has checked.
 * @param action target of its form
 */
function showLogout(ctx: KoaContextWithOIDC, action: string, account: string | undefined): void {
  const { secret, postLogoutRedirectUri } = ctx.oidc.session?.state ?? {};
  const redirectUri = typeof postLogoutRedirectUri === 'string' ? postLogoutRedirectUri : undefined;
  showPage(ctx, renderLogout(textsFor(ctx), { action, csrf: String(secret), account, redirectUri }));
  ctx.state.logoutShown = true;
}

/**
 * Builds the engine's logout with a page of ours (OpenID Connect RP-Initiated Logout 1.0). Apps keep what they were
 * given: a logout ends the login of the browser, a grant ends if the user withdraws it.
 * @param action target of the page's form
 */
export function buildLogout(action: string, accounts: AccountStore): Logout {
  return {
    enabled: true,
    async logoutSource(ctx) {
      const account = await accounts.find(ctx.oidc.session?.accountId ?? '');
      showLogout(ctx, action, account?.email ?? '');
    },
  };
}
