import type { Deadlines } from '../../../mcp/deadlines.ts';
import type { BackendFailure } from '../backend-errors.ts';
import { Pieces } from './pieces.ts';
import type { WireAnswer } from './wire-answer.ts';

/** How much of a body is read, and for how long. */
export interface BodyLimits {
  maxBytes: number;
  deadlines: Deadlines;
}

/**
 * Reads a body that is no stream, within limits (T-157).
 * @param done takes the body, or why there is none; called once
 */
export function readBody(
  answer: WireAnswer,
  { maxBytes, deadlines }: BodyLimits,
  done: (body: Buffer | BackendFailure) => void,
): void {
  const pieces = new Pieces();
  let length = 0;
  let isOver = false;
  const finish = (body: Buffer | BackendFailure): void => {
    if (isOver) return;
    isOver = true;
    forgetDeadline();
    if (typeof body === 'string') answer.drop();
    done(body);
  };
  const forgetDeadline = deadlines.set(() => finish('backend_timed_out'));
  answer.read({
    data(chunk) {
      length += chunk.length;
      if (length > maxBytes) finish('backend_answer_too_large');
      else pieces.add(chunk);
    },
    ended(broken) {
      finish(broken ?? pieces.take());
    },
  });
}
