import type { Context } from 'koa';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import type { FormRefused } from './form.ts';

const explanation = 'form_refused';

/** Answers a form post that is not carried out with a page that says why. */
export function answerRefusedForm(ctx: Context, { status, message: description }: FormRefused): void {
  answerWithErrorPage(ctx, status, { code: 'invalid_request', description }, { explanation });
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
