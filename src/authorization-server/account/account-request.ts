import type { Context } from 'koa';
import { goOn } from '../interactions/page.ts';
import type { Texts } from '../texts/texts.ts';
import type { LoggedIn } from './own-session.ts';

/** A request to an account page, after all checks. */
export interface AccountRequest {
  ctx: Context;
  texts: Texts;
  /** URL of the account pages, without a slash at its end. */
  url: string;
  /** Ties the forms of the page to this browser. */
  csrf: string;
  /** The posted fields; empty for a GET. */
  form: URLSearchParams;
}

/** A request of somebody who is logged in. */
export interface PersonalRequest extends AccountRequest {
  who: LoggedIn;
  /** What the path of the page names, where it names something. */
  name?: string | undefined;
  /** The mark of the account that the page was asked for, where it was asked for one. */
  mark?: string | undefined;
}

/** Sends the browser on to another account page. @param page below `/account`, such as `passkeys`; empty for the overview */
export function goToPage({ ctx, url }: Pick<AccountRequest, 'ctx' | 'url'>, page = ''): void {
  goOn(ctx, page === '' ? url : `${url}/${page}`);
}

/** What a request names is not there, or not this person's: the same answer for both. */
export class PageMissing extends Error {
  override name = 'PageMissing';
}
