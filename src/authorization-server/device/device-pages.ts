import type { Context } from 'koa';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { AuditLog } from '../audit.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { answerExpired, answerWithErrorPage } from '../endpoints/error-page.ts';
import { commitWrites } from '../engine/write-set.ts';
import { showPage } from '../interactions/page.ts';
import type { GuessLimiter } from '../limits.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderNote } from '../views/layout.ts';

/** Longest code a link may carry, with what people put between its halves. */
const maxLinkedCodeCharacters = 40;

/**
 * Takes the code of a link out of the query before the engine sees it, which would post it on by itself: the page shows
 * it to be compared (RFC 8628 section 3.3.1).
 */
export const keepLinkedCode: Step = async (ctx, next) => {
  const { user_code: code, ...query } = ctx.query;
  if (typeof code === 'string' && code.length <= maxLinkedCodeCharacters && /^[\w -]+$/.test(code))
    ctx.state.linkedCode = code;
  ctx.query = query;
  await next();
};

/**
 * Counts wrong codes of an address, and of a browser. Each is counted before it is looked up, so that parallel guesses
 * count as well, and given back if there was such a code (RFC 8628 section 5.1; T-029).
 * @param sessionOf what names the browser; undefined for one without a session, which the engine refuses
 */
export function limitWrongCodes(
  tries: GuessLimiter,
  sessionOf: (ctx: Context) => string | undefined,
  audit: AuditLog,
): Step {
  return async (ctx, next) => {
    const session = sessionOf(ctx);
    const keys = [`address ${ctx.state.clientAddress}`, ...(session ? [`session ${session}`] : [])];
    for (const [index, key] of keys.entries()) {
      const waitSeconds = await tries.take(key);
      if (waitSeconds === 0) continue;
      for (const counted of keys.slice(0, index)) await tries.giveBack(counted);
      audit('device.throttled', ctx);
      ctx.set('Retry-After', String(waitSeconds));
      const error = { code: 'temporarily_unavailable', description: 'too many device codes were tried' };
      return answerWithErrorPage(ctx, 429, error, { explanation: 'too_many_codes', waitSeconds });
    }
    await next();
    if (ctx.state.codeMissed !== true) for (const key of keys) await tries.giveBack(key);
  };
}

/**
 * Creates the step around a posted code: one commit, and of two who claim or refuse a device at once one does (T-029).
 */
export function createDeviceClaim(artifacts: ArtifactStore, audit: AuditLog): Step {
  return async (ctx, next) => {
    const { result } = await commitWrites(artifacts, async () => {
      await next();
      return ctx.status < 500;
    });
    if (!result.committed) answerExpired(ctx);
    else if (ctx.status === 303) audit(ctx.state.deviceDenied ? 'device.denied' : 'device.claimed', ctx);
  };
}

/**
 * Creates the step around the end of login and consent. In one commit, the device code gets its grant or its rejection.
 */
export function createDeviceResumption(artifacts: ArtifactStore): Step {
  return async (ctx, next) => {
    const { result } = await commitWrites(artifacts, async () => {
      await next();
      return ctx.status < 500;
    });
    // The engine answers with a page of its own, which needs a script, where another person has logged in meanwhile.
    if (!result.committed || ctx.status === 200) answerExpired(ctx);
  };
}

/** Shows how it ended. @param how the section of the catalogue */
export function showDeviceNote(how: 'done' | 'denied'): Step {
  return async (ctx) => {
    const texts = textsFor(ctx);
    showPage(ctx, renderNote(texts, texts.device[how]));
  };
}
