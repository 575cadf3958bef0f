import type { Context } from 'koa';
import { InFlightMap } from '../../collections/in-flight-map.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { hashSecret } from '../../crypto/secret.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import { openPayload, payloadContext } from '../engine/stored-rows.ts';
import { redirectSeeOther } from '../interactions/page.ts';
import type { Step } from './endpoint-guards.ts';

const kind = 'RepeatedAnswer';

/** Life of a redirect that the same browser gets again, in seconds. */
export const repeatSeconds = 30;

/** A redirect that was sent, with the cookies that went with it. */
interface KeptAnswer {
  location: string;
  cookies: string[];
}

/**
 * Responds to a HEAD request or a prefetch of a page whose GET consumes something, without consuming it. A prefetch
 * fails, so the browser sends the request again when the user opens the page (FA-23).
 */
export const ignoreHeadAndPrefetch: Step = async (ctx, next) => {
  const isAhead = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'].some((name) =>
    /prefetch|prerender|preview/i.test(ctx.get(name)),
  );
  if (ctx.method !== 'HEAD' && !isAhead) return next();
  ctx.set('Cache-Control', 'no-store');
  ctx.status = isAhead ? 503 : 200;
  ctx.body = '';
};

/** Returns texts that tell a request of one browser from all others; undefined for a request that shows no browser. */
export type RequestMark = (ctx: Context) => readonly string[] | undefined;

/** Parts of {@link createRepeatedAnswers}. */
export interface RepeatedAnswersOptions {
  artifacts: ArtifactStore;
  box: SealedBox;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the step around a GET that ends something. Browsers send one twice, after a break or a reload: the same browser
 * gets the same redirect again for some seconds, and nothing is done again (FA-23).
 * @param markOf includes a secret of the browser
 * @param browserCookie the cookie by which it knows the browser, if the answer would delete it: it stays
 */
export function createRepeatedAnswers(
  { artifacts, box, now }: RepeatedAnswersOptions,
  markOf: RequestMark,
  browserCookie?: string,
): Step {
  const running = new InFlightMap<string, Promise<void>>();

  async function repeat(ctx: Context, id: string): Promise<boolean> {
    const row = await artifacts.find(kind, id);
    if (!row || row.expiresAt <= now()) return false;
    const { location, cookies } = openPayload<KeptAnswer>(box, kind, row);
    if (cookies.length > 0) ctx.set('Set-Cookie', cookies);
    redirectSeeOther(ctx, location);
    return true;
  }

  async function keep(ctx: Context, id: string): Promise<void> {
    if (ctx.status !== 303) return;
    const isOfBrowser = (line: string): boolean =>
      browserCookie !== undefined &&
      line.startsWith(browserCookie) &&
      /; expires=Thu, 01 Jan 1970/i.test(line);
    const cookies = [ctx.response.headers['set-cookie'] ?? []].flat().filter((line) => !isOfBrowser(line));
    ctx.remove('Set-Cookie');
    if (cookies.length > 0) ctx.set('Set-Cookie', cookies);
    const answer: KeptAnswer = { location: ctx.response.get('Location'), cookies };
    const payload = box.seal(JSON.stringify(answer), payloadContext(kind, id));
    await artifacts.commit([{ type: 'put', kind, id, payload, expiresAt: now() + repeatSeconds }]);
  }

  return async (ctx, next) => {
    const mark = markOf(ctx);
    if (!mark) return next();
    const id = hashSecret(kind, JSON.stringify([ctx.path, ...mark]));
    const before = running.get(id);
    const serve = async (): Promise<void> => {
      await before?.catch(() => undefined);
      if (await repeat(ctx, id)) return;
      await next();
      await keep(ctx, id);
    };
    const serving = serve();
    // Set before anything is awaited: of requests that come together, each waits for the one before.
    running.set(id, serving);
    await serving.finally(() => {
      if (running.get(id) === serving) running.delete(id);
    });
  };
}
