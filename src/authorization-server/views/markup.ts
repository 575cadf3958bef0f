import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** HTML that is safe to place in a page: every value in it has been escaped. */
export type Markup = HtmlEscapedString;

/** Values in a template: text (escaped), markup, lists of markup, or nothing. */
export type MarkupValue = string | number | false | undefined | Markup | readonly Markup[];

/**
 * Template tag for HTML; attribute values must stand in quotes.
 * Built on `hono/html` because it escapes by default, has no dependencies, is typed and needs no build step.
 * @returns markup in which each plain string is escaped for text and for quoted attributes (T-059)
 * @throws TypeError when a value is a promise, because pages are rendered synchronously
 */
export function markup(strings: TemplateStringsArray, ...values: MarkupValue[]): Markup {
  const result = html(strings, ...values);
  if (result instanceof Promise) {
    throw new TypeError('A page template was given a promise: await the value before rendering.');
  }
  return result;
}

/**
 * @param trusted text written in this source tree, never text from a request, a client or an account
 * @returns the text as markup, not escaped
 */
export function trustedMarkup(trusted: string): Markup {
  return raw(trusted);
}
