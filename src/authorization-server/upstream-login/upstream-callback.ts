import type { Context } from 'koa';
import { errors } from 'oidc-provider';
import { createKeyedQueue } from '../../collections/fair-queue.ts';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { Logger } from '../../observability/logger.ts';
import type { IdentityStore } from '../../storage/accounts.ts';
import type { ArtifactStore } from '../../storage/artifacts.ts';
import type { Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { AuditLog } from '../audit.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import {
  answerExpired,
  answerWithClientRefusal,
  answerWithErrorPage,
  isClientRefusal,
} from '../endpoints/error-page.ts';
import { createRepeatedAnswers } from '../endpoints/repeated-answers.ts';
import { commitWrites } from '../engine/write-set.ts';
import { failureOf, isUpstreamFault, type UpstreamStates } from './begin-upstream.ts';
import {
  type Arrival,
  type Failure,
  NotAdmitted,
  type PurposeSteps,
  type StepsByPurpose,
  type UpstreamPurpose,
} from './purposes.ts';

/** Options of the callback. */
export interface UpstreamCallbackOptions {
  upstreams: Upstreams;
  states: UpstreamStates;
  steps: StepsByPurpose;
  artifacts: ArtifactStore;
  identities: Pick<IdentityStore, 'findAccount'>;
  audit: AuditLog;
  logger: Logger;
  box: SealedBox;
  /** Epoch seconds. */
  now: () => number;
}

/** Maximum number of attempts if another write was faster, such as a login of the same user in another process. */
const maxTries = 10;

/** Returns a parameter that is there once. */
function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Creates the step behind `GET /upstream/<name>/callback`. In order: the state belongs to this upstream and this browser
 * and is used up; what it was begun for still waits; the upstream's answer holds; the person may come in; and all that
 * follows is one commit. Whatever is missing, nothing was done (T-079, T-080, T-085). The same browser gets the same redirect
 * again for some seconds.
 * @returns for a name out of the path, the step
 */
export function createUpstreamCallback(options: UpstreamCallbackOptions): (name: string) => Step {
  const { upstreams, states, steps, artifacts, identities, audit, logger } = options;
  const takeTurn = createKeyedQueue();

  /**
   * Revokes useless tokens at the upstream after the response, since they would stay valid there. Tokens of a known
   * user are kept: other logins of the user may depend on the same.
   */
  function giveBack({ upstream, identity, tokens }: Arrival): void {
    const revoke = async (): Promise<void> => {
      if ((await identities.findAccount(identity)) === undefined) await upstream.revoke(tokens);
    };
    revoke().catch((error: unknown) => {
      const why = isUpstreamFault(error) ? { reason: error.reason } : { err: error };
      logger.warn({ upstream: upstream.name, ...why }, 'tokens could not be given back');
    });
  }

  async function fail<P extends UpstreamPurpose>(
    ctx: Context,
    upstream: Upstream,
    { fail: say }: PurposeSteps<P>,
    purpose: P,
    failure: Failure,
    reason: string,
  ): Promise<void> {
    audit('upstream.refused', ctx, { upstream: upstream.name, purpose: purpose.purpose, reason });
    const { result } = await commitWrites(artifacts, async () => {
      await say(ctx, purpose, upstream, failure);
      return true;
    });
    if (!result.committed) answerExpired(ctx);
  }

  /**
   * Takes somebody in after all others who are the same person there: each login is the next generation of their
   * tokens, and of many at once all but one would be too late each time.
   * @returns whether they were taken in; false if what they came for is gone by now
   */
  function takeInByTurns<P extends UpstreamPurpose>(
    ctx: Context,
    purposeSteps: PurposeSteps<P>,
    purpose: P,
    arrival: Arrival,
  ): Promise<boolean> {
    const { issuer, subject } = arrival.identity;
    return takeTurn(JSON.stringify([issuer, subject]), () => takeIn(ctx, purposeSteps, purpose, arrival));
  }

  async function takeIn<P extends UpstreamPurpose>(
    ctx: Context,
    { finish }: PurposeSteps<P>,
    purpose: P,
    arrival: Arrival,
  ): Promise<boolean> {
    const cookies = ctx.response.headers['set-cookie'];
    let isDone = false;
    for (let tries = 1; tries <= maxTries && !isDone; tries++)
      try {
        const { result } = await commitWrites(artifacts, async () => {
          await finish(ctx, purpose, arrival);
          return true;
        });
        isDone = result.committed;
      } finally {
        if (!isDone) {
          ctx.remove('Location');
          ctx.remove('Set-Cookie');
          if (cookies !== undefined) ctx.set('Set-Cookie', cookies);
        }
      }
    return isDone;
  }

  async function arrive<P extends UpstreamPurpose>(
    ctx: Context,
    upstream: Upstream,
    purposeSteps: PurposeSteps<P>,
    purpose: P,
    complete: () => ReturnType<Upstream['complete']>,
  ): Promise<void> {
    if (!(await purposeSteps.isOpen(ctx, purpose))) return answerExpired(ctx);
    let arrival: Arrival;
    try {
      const { sid, ...completed } = await complete();
      arrival = { upstream, ...completed, ...(sid === undefined ? undefined : { sid }) };
    } catch (error) {
      if (!isUpstreamFault(error)) throw error;
      logger.info({ upstream: upstream.name, reason: error.reason }, error.message);
      return fail(ctx, upstream, purposeSteps, purpose, failureOf(error), error.reason);
    }
    try {
      if (await takeInByTurns(ctx, purposeSteps, purpose, arrival)) return;
    } catch (error) {
      giveBack(arrival);
      if (!(error instanceof NotAdmitted)) throw error;
      return fail(ctx, upstream, purposeSteps, purpose, 'notAdmitted', error.reason);
    }
    giveBack(arrival);
    answerExpired(ctx);
  }

  const once = createRepeatedAnswers(options, (ctx) => {
    const state = single(new URLSearchParams(ctx.querystring), 'state') ?? '';
    const cookie = states.cookieOf(ctx, state);
    return cookie === undefined ? undefined : [state, cookie];
  });

  const answer = async (ctx: Context, name: string): Promise<void> => {
    const upstream = upstreams.find(name);
    if (!upstream) return answerWithErrorPage(ctx, 404, { code: 'not_found' });
    const callback = new URLSearchParams(ctx.querystring);
    const state = await states.claim(ctx, name, single(callback, 'state'));
    if (typeof state === 'string') {
      audit('upstream.refused', ctx, { upstream: name, reason: state });
      return answerExpired(ctx);
    }
    const { purpose, pending } = state;
    const purposeSteps = steps[purpose.purpose] as PurposeSteps<UpstreamPurpose>;
    try {
      await arrive(ctx, upstream, purposeSteps, purpose, () => upstream.complete(callback, pending));
    } catch (error) {
      if (isClientRefusal(error)) return answerWithClientRefusal(ctx, error);
      const isOver = error instanceof errors.SessionNotFound || error instanceof errors.InvalidRedirectUri;
      if (!isOver) throw error;
      answerExpired(ctx);
    }
  };
  return (name) => (ctx) => once(ctx, () => answer(ctx, name));
}
