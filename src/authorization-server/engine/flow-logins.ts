import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Step } from '../endpoints/endpoint-guards.ts';
import type { SessionLife } from './session-browser.ts';

/** The login of one authorization or device request, on an installation whose cookies other ports of the host get. */
export interface FlowLogins {
  /** Begins a request as a browser in which nobody is logged in: a cookie alone proves no login. */
  ignoreEarlier: Step;
  /** Ends the login before the browser is sent to the client, whose own listener gets the cookies. */
  endWithAnswer: Step;
}

/** What they work with. */
export interface FlowLoginOptions {
  provider: Provider;
  /** Issuer identifier. */
  issuer: string;
  /** Whether servers at other ports of the host get our cookies. */
  portsShareCookies: boolean;
}

/** Returns lifetimes in which a login lasts no longer than the pages of one request. */
export function withinOneRequest<L extends SessionLife & { interactionSeconds: number }>(lifetimes: L): L {
  const { interactionSeconds } = lifetimes;
  return { ...lifetimes, sessionSeconds: interactionSeconds, sessionIdleSeconds: interactionSeconds };
}

const pass: Step = (_ctx, next) => next();

/** Leaves cookies out of the head of a request. */
function dropCookies(ctx: Context, names: readonly string[]): void {
  const kept = (ctx.req.headers.cookie ?? '')
    .split(';')
    .filter((pair) => !names.includes(pair.split('=')[0]?.trim() ?? ''));
  ctx.req.headers.cookie = kept.join(';');
}

/**
 * Creates the steps that keep a login within one request, so that neither the callback of an app nor its page at another
 * port can use the cookies of it (T-208). They change nothing where cookies reach no other port.
 */
export function createFlowLogins({ provider, issuer, portsShareCookies }: FlowLoginOptions): FlowLogins {
  if (!portsShareCookies) return { ignoreEarlier: pass, endWithAnswer: pass };
  const cookie = provider.cookieName('session');
  return {
    async ignoreEarlier(ctx, next) {
      const id = ctx.cookies.get(cookie, { signed: false });
      const session = id ? await provider.Session.find(id) : undefined;
      if (session?.accountId !== undefined) dropCookies(ctx, [cookie, `${cookie}.sig`]);
      await next();
    },
    async endWithAnswer(ctx, next) {
      await next();
      const { session } = (ctx as unknown as KoaContextWithOIDC).oidc;
      const goesOn = ctx.response.get('Location').startsWith(`${issuer}/interaction/`);
      if (!session || ctx.status !== 303 || goesOn) return;
      await session.destroy();
      ctx.cookies.set(cookie, null, {
        httpOnly: true,
        sameSite: 'lax',
        path: '/',
        signed: true,
        overwrite: true,
      });
    },
  };
}
