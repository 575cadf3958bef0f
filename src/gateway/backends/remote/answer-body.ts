import {
  type Deadlines,
  type HeldBytes,
  type IncomingBytes,
  smallBytes,
} from '../../../mcp/building-blocks.ts';
import type { BackendFailure } from '../backend-errors.ts';
import { Pieces } from './pieces.ts';
import type { WireAnswer } from './wire-answer.ts';

/** The budget in which the bytes of answers are counted, and the account they belong to. */
export interface Holding {
  held: HeldBytes;
  /** See `accountKeyPrefix`. */
  account: string;
}

/** Limits of reading a body: its size and its time. */
export interface BodyLimits {
  maxBytes: number;
  deadlines: Deadlines;
  /** Absent if `maxBytes` is small. */
  holding?: Holding;
}

/**
 * Reads a body that is no stream, within limits (T-157).
 * @param done takes the body, or why there is none; called once
 */
export function readBody(
  answer: WireAnswer,
  { maxBytes, deadlines, holding }: BodyLimits,
  done: (body: Buffer | BackendFailure) => void,
): void {
  const pieces = new Pieces();
  let length = 0;
  let isOver = false;
  let bytes: IncomingBytes | undefined;
  const begin = (): IncomingBytes | undefined =>
    holding && holdAnswer(answer, holding, () => finish('too_many_held_bytes'));
  const end = (): void => {
    isOver = true;
    forgetDeadline();
    bytes?.end();
  };
  const finish = (body: Buffer | BackendFailure): void => {
    if (isOver) return;
    end();
    if (typeof body === 'string') answer.drop();
    done(body);
  };
  const forgetDeadline = deadlines.set(() => finish('backend_timed_out'));
  answer.read({
    data(chunk) {
      length += chunk.length;
      if (length > maxBytes) finish('backend_answer_too_large');
      else {
        pieces.add(chunk);
        if (length > smallBytes) {
          bytes ??= begin();
          bytes?.set(length);
        }
      }
    },
    ended(broken) {
      finish(broken ?? pieces.take());
    },
    dropped: end,
  });
  const announced = Number(answer.headers.get('content-length') ?? 0);
  if (announced <= smallBytes || announced > maxBytes) return;
  bytes = begin();
  bytes?.expect(announced);
}

/**
 * Begins to count what is kept of an answer while it is read.
 * @param giveUp called if there was no room for it in time
 */
export function holdAnswer(
  answer: Pick<WireAnswer, 'stopReading'>,
  { held, account }: Holding,
  giveUp: () => void,
): IncomingBytes {
  let readOn: (() => void) | undefined;
  return held.incoming(account, {
    pause() {
      readOn ??= answer.stopReading();
    },
    resume() {
      readOn?.();
      readOn = undefined;
    },
    giveUp,
  });
}
