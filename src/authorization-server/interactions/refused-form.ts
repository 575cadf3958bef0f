import type { Context } from 'koa';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { FormRefused } from './form.ts';

/**
 * Answers a form post that is not carried out with a page that says why.
 * @param account URL of the account page, where the form was one of those
 */
export function answerRefusedForm(
  ctx: Context,
  { status, message: description }: FormRefused,
  account?: string,
): void {
  answerWithErrorPage(
    ctx,
    status,
    { code: 'invalid_request', description },
    { explanation: 'form_refused', ...(account !== undefined && { account }) },
  );
}

/**
 * Answers a request whose method a page does not take with 405, what it takes, and a page that says so (T-016).
 * @param account URL of the account page, where it is one of those
 * @returns whether it was answered
 */
export function refuseOtherMethods(ctx: Context, allowed: readonly string[], account?: string): boolean {
  if (allowed.includes(ctx.method)) return false;
  ctx.set('Allow', allowed.join(', '));
  answerRefusedForm(ctx, new FormRefused(405, `use ${allowed.join(' or ')} here`), account);
  return true;
}
