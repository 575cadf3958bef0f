import { createParser } from 'eventsource-parser';
import { type IncomingBytes, smallBytes } from '../../../mcp/building-blocks.ts';
import { OutputRateLimiter } from '../output-rate-limiter.ts';
import { type BrokenBody, type Holding, holdAnswer, type WireAnswer } from './answer-body.ts';
import type { LinkParts } from './link.ts';

/** An event of an event stream. */
interface StreamEvent {
  /** `message` if the server names no type. */
  type: string;
  /** Its data lines, joined by line feeds. */
  data: Buffer;
}

/** The position up to which a stream was read, for a later resumption (B3-09, B4-03). */
export interface StreamPosition {
  /** Id of the last complete event that had one, as the value of a header, a byte a character. */
  lastEventId?: string | undefined;
  /** Milliseconds that the server wants clients to wait before they reconnect. */
  retryMs?: number | undefined;
}

/** Minimum pause before a stream is reopened, whatever the server wants, in milliseconds (T-156). */
const leastRetryMs = 100;

/** Maximum length of an event id that is kept: it is sent back as a header. */
const maxIdLength = 1024;

/** RFC 9110 section 5.5. */
const sendable = /^[\t\x20-\x7e\x80-\xff]+$/;

/** Reason why a stream ended. */
type StreamEnd = BrokenBody | 'backend_answer_too_large' | 'too_many_held_bytes';

/** Limits for the events of a stream. */
interface EventLimits {
  /** Maximum length of an event, in bytes. */
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

/** Receives the events of a stream. */
interface StreamTaker {
  /** Takes an event that has data. */
  event(event: StreamEvent): void;
  /** The stream ended or broke, or an event was too long. Called once, as the last. */
  ended(because: StreamEnd): void;
}

/**
 * Reads an event stream to its end with `eventsource-parser` (MIT, no dependencies, the parser of the MCP SDK). The parser
 * gets a character for each byte and its data is turned back into bytes, so that characters may be split between chunks
 * and JSON is relayed as it was sent. Events are bounded, the stream is not (T-157); if more than ten thousand events come
 * in a second, the rest waits for the next second, so that other callers are served (T-156).
 * @param position is kept up to date
 * @returns stops reading; the taker is not called afterwards
 * @see WHATWG HTML section 9.2.6 "Interpreting an event stream"
 */
export function readEventStream(
  answer: WireAnswer,
  { maxEventBytes, holding }: EventLimits,
  position: StreamPosition,
  taker: StreamTaker,
): () => void {
  let isOver = false;
  const limiter = new OutputRateLimiter(() => performance.now());
  let bytes: IncomingBytes | undefined;
  /** Bytes since the last event or comment ended. */
  let heldBytes = 0;
  const end = (because: StreamEnd): void => {
    if (isOver) return;
    isOver = true;
    bytes?.end();
    answer.drop();
    taker.ended(because);
  };
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent({ id, event: type = 'message', data }) {
      heldBytes = 0;
      if (isOver) return;
      if (id !== undefined && id.length <= maxIdLength)
        position.lastEventId = sendable.test(id) ? id : undefined;
      const { pauseMs } = limiter.take();
      if (pauseMs > 0) answer.pause(pauseMs);
      if (data.length > maxEventBytes) end('backend_answer_too_large');
      else if (data !== '') taker.event({ type, data: Buffer.from(data, 'latin1') });
    },
    onRetry(waitMs) {
      position.retryMs = Math.max(waitMs, leastRetryMs);
    },
    // Comments keep streams open for days.
    onComment() {
      heldBytes = 0;
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') end('backend_answer_too_large');
    },
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
      if (isOver) return;
      heldBytes += chunk.length;
      parser.feed(chunk.toString('latin1'));
      if (!isOver) count(heldBytes);
    },
    ended: (broken = 'backend_ended') => end(broken),
  });
  return () => {
    isOver = true;
    bytes?.end();
    answer.drop();
  };
}

/** Returns true if a response is an event stream. */
export function isEventStream({ headers }: WireAnswer): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}
