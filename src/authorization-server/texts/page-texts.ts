import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { chooseTexts, type Texts } from './texts.ts';

/**
 * Keeps the `ui_locales` an interaction was begun with for the rest of this request, so that its pages, errors
 * included, speak the language that was asked for.
 * @param uiLocales as it stands in the parameters of the interaction
 */
export function keepUiLocales(ctx: Context, uiLocales: unknown): void {
  ctx.state.uiLocales = uiLocales;
}

/**
 * Returns the texts for the response to a request. `ui_locales` comes from the stored interaction, from the resumed
 * request, or from the query.
 */
export function textsFor(ctx: Context): Texts {
  const sent: unknown =
    ctx.state.uiLocales ??
    (ctx as Partial<KoaContextWithOIDC>).oidc?.params?.ui_locales ??
    ctx.query.ui_locales;
  return chooseTexts({
    uiLocales: typeof sent === 'string' ? sent : undefined,
    acceptLanguage: ctx.get('Accept-Language'),
  });
}
