import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import { equalSecrets, hashSecret, randomSecret } from '../../crypto/secret.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { answerWithErrorPage } from '../endpoints/error-page.ts';

/**
 * The pass out of an interaction: the page whose form answers an interaction gets it in the address that follows, and
 * nothing else opens the way on. Cookies do not prove which browser answered: a server at another port of the host gets
 * them, and can set those of an interaction that it began itself (T-208).
 */
interface Passing {
  pass?: string;
}

/** Derives the pass from the CSRF token of a posted form, of which each copy of a page has its own. */
export function notePageOfForm(ctx: Context, form: URLSearchParams): void {
  ctx.state.pass = hashSecret('PagePass', form.get('csrf') ?? '');
}

/** Returns the pass of the request; a random one if it is no form, as behind an upstream. */
export function passOf(ctx: Context): string {
  const state = ctx.state as Passing;
  state.pass ??= randomSecret();
  return state.pass;
}

/** Adds the pass of the request to the address at which the engine takes up an interaction. */
export function withPass(ctx: Context, returnTo: string): string {
  const url = new URL(returnTo);
  url.searchParams.set('pass', passOf(ctx));
  return url.href;
}

/** Creates the step in front of where the engine takes up an interaction: it rejects a browser without the pass. */
export function requirePass(provider: Provider): Step {
  return async (ctx, next) => {
    const interaction = await provider.Interaction.find(ctx.path.split('/').at(-1) ?? '');
    const expected = (interaction?.result as Passing | undefined)?.pass ?? '';
    const { pass } = ctx.query;
    const isPassed = typeof pass === 'string' && expected !== '' && equalSecrets(pass, expected);
    if (interaction && !isPassed)
      return answerWithErrorPage(ctx, 400, { code: 'invalid_request' }, { explanation: 'expired' });
    await next();
  };
}

/**
 * Creates the reading of a request that takes up an interaction: its pass, and the cookie that the engine takes it up by, of
 * this interaction. The cookie stays after the answer, so that the browser can be known again (FA-23).
 */
export function resumedBy(provider: Provider): (ctx: Context) => readonly string[] | undefined {
  const name = provider.cookieName('resume');
  return (ctx) => {
    const { pass } = ctx.query;
    const uid = ctx.cookies.get(name, { signed: true });
    if (typeof pass !== 'string' || !uid || !ctx.path.endsWith(`/${uid}`)) return undefined;
    return [pass, uid];
  };
}
