import type { Step } from '../endpoints/endpoint-guards.ts';
import { checkSameOrigin, FormRefused } from './form.ts';
import { answerRefusedForm } from './refused-form.ts';

/** Lets a form in that comes from a page of ours, as far as the browser says (T-014). @param origin our public origin */
export function refuseForeignForm(origin: string): Step {
  return async (ctx, next) => {
    try {
      checkSameOrigin(ctx, origin);
    } catch (error) {
      if (!(error instanceof FormRefused)) throw error;
      return answerRefusedForm(ctx, error);
    }
    await next();
  };
}
