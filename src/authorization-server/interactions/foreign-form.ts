import type { Step } from '../endpoints/endpoint-guards.ts';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { checkSameOrigin, FormRefused } from './form.ts';

/** Lets a form in that comes from a page of ours, as far as the browser says (T-014). @param origin our public origin */
export function refuseForeignForm(origin: string): Step {
  return async (ctx, next) => {
    try {
      checkSameOrigin(ctx, origin);
    } catch (error) {
      if (!(error instanceof FormRefused)) throw error;
      return answerWithErrorPage(
        ctx,
        error.status,
        { code: 'invalid_request', description: error.message },
        { explanation: 'form_refused' },
      );
    }
    await next();
  };
}
