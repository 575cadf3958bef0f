import type { Step } from '../endpoints/endpoint-guards.ts';
import { replayBody } from '../engine/replayed-body.ts';
import { FormRefused, readOwnBody } from './form.ts';
import { answerRefusedForm } from './refused-form.ts';

/**
 * Lets a form in that comes from a page of ours, as far as the browser says, and can be read (T-014, T-134); the engine reads
 * it again, and looks for the token in it.
 * @param origin our public origin
 */
export function takeOwnForm(origin: string): Step {
  return async (ctx, next) => {
    try {
      replayBody(ctx, await readOwnBody(ctx, origin));
    } catch (error) {
      if (!(error instanceof FormRefused)) throw error;
      return answerRefusedForm(ctx, error);
    }
    await next();
  };
}
