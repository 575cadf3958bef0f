import type { Context } from 'koa';
import { answerWithOAuthError, type Step } from '../endpoints/endpoint-guards.ts';
import { answerWithErrorPage } from '../endpoints/error-page.ts';
import { createLimiter, type Limit, type LimitName } from '../limits.ts';

/**
 * Answers that a limit was reached, with 429 and how long to wait (RFC 6585 section 4, RFC 9110 section 10.2.3).
 * @param reason what there was too much of, the beginning of a sentence
 */
export type TooMany = (ctx: Context, waitSeconds: number, reason: string) => void;

function describe(waitSeconds: number, reason: string): string {
  return `${reason}; try again in ${waitSeconds} second${waitSeconds === 1 ? '' : 's'}`;
}

/** Any page may read it: it says how long to wait, and uses no cookies. */
function letAnyPageRead(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', 'Retry-After');
}

/** Lets any page read a 429 of an endpoint, whichever limit it comes from. */
export const exposeWait: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 429) letAnyPageRead(ctx);
};

function prepare(ctx: Context, waitSeconds: number): void {
  ctx.set('Retry-After', String(waitSeconds));
  letAnyPageRead(ctx);
}

/** Rejects a request of a program with 429 and JSON. */
export const rejectAsJson: TooMany = (ctx, waitSeconds, reason) => {
  prepare(ctx, waitSeconds);
  answerWithOAuthError(ctx, 429, 'temporarily_unavailable', describe(waitSeconds, reason));
};

/** Rejects a request of a browser with 429 and a page, or with JSON if the request accepts no page. */
export const rejectAsPage: TooMany = (ctx, waitSeconds, reason) => {
  prepare(ctx, waitSeconds);
  answerWithErrorPage(
    ctx,
    429,
    { code: 'temporarily_unavailable', description: describe(waitSeconds, reason) },
    { explanation: 'too_many_requests', waitSeconds },
  );
};

/** Takes note that a request was refused, because a limit was reached. */
export type NoteReached = (
  /** Key of the limit: the address or the principal. */
  key: string,
  /** Writes it down; not asked more than once for a key and window. */
  write: (details: { limit: LimitName }) => void,
) => Promise<void>;

/**
 * Creates the note of a limit. Each refused request is counted, and one in a window is written down for each key: who
 * sends a flood does not fill the log with it.
 * @param count counts a refused request, by the name of the limit
 */
export function createReached(
  limit: LimitName,
  { windowSeconds }: Limit,
  count: (limit: LimitName) => void,
): NoteReached {
  const written = createLimiter({ times: 1, windowSeconds });
  return async (key, write) => {
    count(limit);
    if ((await written.take(key)) === 0) write({ limit });
  };
}
