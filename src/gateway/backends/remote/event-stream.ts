import { type IncomingBytes, smallBytes } from '../../../mcp/streams/held-bytes.ts';
import { Flood } from '../flood.ts';
import { type Holding, holdAnswer } from './answer-body.ts';
import { EventReader, type StreamEvent } from './event-reader.ts';
import type { LinkParts } from './link.ts';
import type { BrokenBody, WireAnswer } from './wire-answer.ts';

/** How far a stream was read, for who opens it again (B3-09, B4-03). */
export interface StreamPosition {
  lastEventId?: string | undefined;
  /** How long the server wants to be left alone before, in milliseconds. */
  retryMs?: number | undefined;
}

/** However soon a server wants its stream opened again, it is left alone for this long, in milliseconds (T-156). */
const leastRetryMs = 100;

/** Why a stream is over. */
export type StreamEnd = BrokenBody | 'backend_answer_too_large' | 'too_many_held_bytes';

/** Limits for the events of a stream. */
export interface EventLimits {
  /** Longest event, in bytes. */
  maxEventBytes: number;
  holding: Holding;
}

/** Returns the limits for the events of a link. */
export function eventLimits({
  maxAnswerBytes,
  held,
  account,
}: Pick<LinkParts, 'maxAnswerBytes' | 'held' | 'account'>): EventLimits {
  return { maxEventBytes: maxAnswerBytes, holding: { held, account } };
}

/** Takes what comes over an event stream. */
export interface StreamTaker {
  /** Takes an event that has data. */
  event(event: StreamEvent): void;
  /** The stream is over: it ended or broke, or an event was too long. Called once, last. */
  ended(because: StreamEnd): void;
}

/**
 * Reads an event stream to its end. Its events are bounded, it is not (T-157); of more than ten thousand in a second the
 * rest is left to wait for the next, so that others are served (T-156).
 * @param position is kept up to date
 * @returns stops reading; nothing is handed on afterwards
 */
export function readEventStream(
  answer: WireAnswer,
  { maxEventBytes, holding }: EventLimits,
  position: StreamPosition,
  taker: StreamTaker,
): () => void {
  let isOver = false;
  const flood = new Flood(() => performance.now());
  let bytes: IncomingBytes | undefined;
  const end = (because: StreamEnd): void => {
    if (isOver) return;
    isOver = true;
    bytes?.end();
    answer.drop();
    taker.ended(because);
  };
  const reader = new EventReader(maxEventBytes, {
    event(event) {
      if (isOver) return;
      const { pauseMs } = flood.take();
      if (pauseMs > 0) answer.pause(pauseMs);
      if (event.data.length > 0) taker.event(event);
    },
    retry(waitMs) {
      position.retryMs = Math.max(waitMs, leastRetryMs);
    },
    tooLong: () => end('backend_answer_too_large'),
  });
  const count = (length: number): void => {
    if (length > smallBytes) {
      bytes ??= holdAnswer(answer, holding, () => end('too_many_held_bytes'));
      bytes.set(length);
    } else {
      bytes?.end();
      bytes = undefined;
    }
  };
  answer.read({
    data(chunk) {
      if (!isOver) reader.push(chunk);
      if (!isOver) count(reader.heldBytes);
      position.lastEventId = reader.lastEventId ?? position.lastEventId;
    },
    ended: (broken = 'backend_ended') => end(broken),
  });
  return () => {
    isOver = true;
    bytes?.end();
    answer.drop();
  };
}

/** @returns whether an answer is an event stream */
export function isEventStream({ headers }: WireAnswer): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}
