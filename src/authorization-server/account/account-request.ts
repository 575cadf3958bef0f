import type { Context } from 'koa';
import { accountMark } from '../../crypto/secret.ts';
import { redirectSeeOther } from '../interactions/page.ts';
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
  /** Name of the upstream or MCP server in the path, if the path has one. */
  name?: string | undefined;
  /** The mark of the account that the page was asked for, if it was asked for one. */
  mark?: string | undefined;
}

/** Sends the browser on to another account page. @param page below `/account`, such as `passkeys`; empty for the overview */
export function goToPage({ ctx, url }: Pick<AccountRequest, 'ctx' | 'url'>, page = ''): void {
  redirectSeeOther(ctx, page === '' ? url : `${url}/${page}`);
}

/** Returns true if the link to a page was made for another account than the one that is logged in. */
export function isForAnother({ mark, who }: Pick<PersonalRequest, 'mark' | 'who'>): boolean {
  return mark !== undefined && mark !== accountMark(who.account.id);
}

/** The thing that a request names does not exist, or belongs to another user: the response is the same for both. */
export class PageMissing extends Error {
  override name = 'PageMissing';
}
