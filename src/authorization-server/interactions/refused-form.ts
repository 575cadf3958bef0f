import type { Context } from 'koa';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import type { FormRefused } from './form.ts';

const explanation = 'form_refused';

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
    account === undefined ? { explanation } : { explanation: 'account_form_refused', account },
  );
}

/**
 * Answers a request whose method a page does not take with 405, what it takes, and a page that says so (T-016).
 * @returns whether it was answered
 */
export function refuseOtherMethods(ctx: Context, allowed: readonly string[]): boolean {
  if (allowed.includes(ctx.method)) return false;
  ctx.set('Allow', allowed.join(', '));
  const description = `use ${allowed.join(' or ')} here`;
  answerWithErrorPage(ctx, 405, { code: 'invalid_request', description }, { explanation });
  return true;
}
