import { createMemoryStore, type Fetch, freshCredential } from '../../client/index.ts';
import { type Check, fail, type Judgement, pass, skip, unknown, warn } from '../check.ts';
import type { Subject } from '../subject.ts';
import { consentPatienceMs } from './consent.ts';
import {
  askForTokens,
  credentialOf,
  describeTokenAnswer,
  firstSession,
  refreshSession,
  type Session,
  type TokenAnswer,
} from './session.ts';

/** Common parts of the refresh checks. */
const ofRefreshing = {
  section: 'login',
  active: true,
  needs: ['LOGIN-REQUEST', 'LOGIN-STATE', 'LOGIN-ISS', 'LOGIN-CODE'],
  patienceMs: consentPatienceMs,
} as const;

/** Checks a refresh long before the token expires, with the resource. */
export const refreshCheck: Check = {
  ...ofRefreshing,
  id: 'LOGIN-REFRESH',
  title: 'A refresh token is redeemed at any time, with the resource named',
  clause: 'RFC 6749 section 6; RFC 8707 section 2.2',
  async judge(subject) {
    const step = await subject.fact(firstRefresh);
    if (step.kind === 'undone') return step.judgement;
    const { answer } = step;
    const { evidence } = answer.answer;
    const saw = `A refresh right after the login ${describeTokenAnswer(answer)}.`;
    if (answer.answer.kind === 'unanswered') return unknown(saw, { evidence });
    if (answer.tokens !== undefined) return pass(saw, { evidence });
    return fail(
      saw,
      answer.error === 'invalid_target'
        ? 'Accept at the refresh the resource that the login was for.'
        : 'Redeem refresh tokens whenever they come, also before the access token ends: clients renew ahead of time.',
      { evidence },
    );
  },
};

/** Checks that a refresh token of a public client works only once. */
export const rotationCheck: Check = {
  ...ofRefreshing,
  needs: [...ofRefreshing.needs, 'LOGIN-REFRESH'],
  id: 'LOGIN-ROTATION',
  title: 'Each refresh gives a public client a new refresh token',
  clause: 'RFC 9700 section 2.2.2',
  async judge(subject) {
    const step = await subject.fact(firstRefresh);
    if (step.kind === 'undone') return step.judgement;
    const { answer, used, session } = step;
    const { evidence } = answer.answer;
    if (answer.tokens === undefined)
      return unknown('The login cannot be refreshed.', { because: 'LOGIN-REFRESH', evidence });
    const issued = answer.tokens.refreshToken;
    if (issued !== undefined && issued !== used)
      return pass('The refresh gave a new refresh token.', { evidence });
    const saw =
      issued === undefined
        ? 'The refresh gave no refresh token: the old one stays.'
        : 'The refresh gave the same refresh token again.';
    if (session.client.clientSecret !== undefined)
      return pass(`${saw} The client has a secret, so rotation is not required.`, { evidence });
    return warn(
      saw,
      'Rotate the refresh tokens of public clients, or bind them to a key (DPoP): a stolen one is otherwise good until it ends, unseen.',
      { evidence },
    );
  },
};

/** Checks that concurrent requests of the client library share one refresh. */
export const parallelRefreshCheck: Check = {
  ...ofRefreshing,
  needs: [...ofRefreshing.needs, 'LOGIN-REFRESH'],
  id: 'LOGIN-PARALLEL-REFRESH',
  title: 'Many requests whose token ended at once are served by one refresh',
  clause: 'RFC 9700 section 4.14.2; RFC 6749 section 6',
  async judge(subject) {
    const step = await subject.fact(parallelRefresh);
    if (step.kind === 'undone') return step.judgement;
    const { askers, served, redemptions, tokens } = step;
    const saw = `${askers} requests asked this client for a token at once: ${served} were served with ${tokens} access token(s), by ${redemptions} request(s) to the token endpoint.`;
    if (served === askers && redemptions === 1 && tokens === 1) return pass(saw);
    return fail(
      saw,
      'If a second refresh after the first fails, the server has ended the login at the first: look for "reuse detected" in its log.',
    );
  },
};

/** Maximum time for the check of reuse, in milliseconds. */
const reusePatienceMs = 120_000;

/** Checks that the reuse of a refresh token is detected, because it may be stolen. */
export const reuseCheck: Check = {
  ...ofRefreshing,
  needs: [...ofRefreshing.needs, 'LOGIN-REFRESH'],
  patienceMs: consentPatienceMs + reusePatienceMs,
  id: 'LOGIN-REUSE',
  title: 'A refresh token that comes back gets no new tokens, and ends the login',
  clause: 'RFC 9700 section 4.14.2',
  async judge(subject) {
    const step = await subject.fact(reuse);
    if (step.kind === 'undone') return step.judgement;
    const { takenUntil, renewedAt, refusedAfter, refusal, latest, evidence } = step;
    if (refusal === undefined && renewedAt === undefined)
      return unknown(
        `A used refresh token gets the answer of its use again, the same access token and the same refresh token, for ${takenUntil} seconds at least. Nobody gains a login by that; whether it ends the login after that was not waited for.`,
        { evidence },
      );
    if (refusal === undefined)
      return fail(
        `A used refresh token was still redeemed ${takenUntil} seconds after its use, for new tokens.`,
        'Refuse a used refresh token with invalid_grant, at the latest some seconds after its use, and end all tokens of the login then. Until that give the same answer again, not new tokens.',
        { evidence },
      );
    if (refusal.answer.kind === 'unanswered')
      return unknown(`The second use ${describeTokenAnswer(refusal)}.`, { evidence });
    const window =
      takenUntil === undefined
        ? `There is no grace window once the newer token was used: the second use, ${refusedAfter} seconds after the first, ${describeTokenAnswer(refusal)}.`
        : `The grace window ends between ${takenUntil} and ${refusedAfter} seconds after the use; then the token ${describeTokenAnswer(refusal)}.`;
    if (renewedAt !== undefined)
      return warn(
        `A used refresh token got new tokens ${renewedAt} seconds after its use. ${window}`,
        'Within the grace window give the answer of the first use again, not new tokens: with tokens of their own, both holders of a stolen refresh token go on, and neither is noticed.',
        { evidence },
      );
    if (refusal.error === undefined) return unknown(window, { because: 'LOGIN-TOKEN-ERROR', evidence });
    if (refusal.error !== 'invalid_grant')
      return warn(
        window,
        'Refuse a used refresh token with status 400 and invalid_grant: on any other error clients keep the login and try again.',
        { evidence },
      );
    if (latest?.error === 'invalid_grant')
      return pass(`${window} The newest refresh token of the login was refused after that.`, { evidence });
    if (latest?.tokens === undefined)
      return unknown(
        `${window} The newest refresh token ${latest === undefined ? 'was not tried' : describeTokenAnswer(latest)}.`,
        { evidence },
      );
    return warn(
      `${window} But the newest refresh token of the login still works: whoever used it first keeps the login.`,
      'End all tokens of the login when a used refresh token comes back: nobody can tell which of the two holders is the thief.',
      { evidence },
    );
  },
};

/** The first refresh of the login. */
interface FirstRefresh {
  session: Session;
  /** The refresh token that was used; only to be used again. */
  used: string;
  answer: TokenAnswer;
}

/** A step with the refresh tokens of the first login, or the reason why it was not possible. */
type Step<T> = ({ kind: 'done' } & T) | { kind: 'undone'; judgement: Judgement };

/** Fact: the first refresh of the login, long before its token expires. */
export async function firstRefresh(subject: Subject): Promise<Step<FirstRefresh>> {
  const session = await subject.fact(firstSession);
  if (session.kind === 'missing') return { kind: 'undone', judgement: session.judgement };
  const used = session.held.refreshToken;
  if (used === undefined)
    return {
      kind: 'undone',
      judgement: skip('There is no refresh token.', { because: 'LOGIN-REFRESH-TOKEN' }),
    };
  return { kind: 'done', session, used, answer: await refreshSession(subject, session) };
}

/** Result of concurrent refreshes. */
interface Rehearsal {
  /** Number of concurrent requests. */
  askers: number;
  /** Number of requests that got a token. */
  served: number;
  /** Number of requests that reached the token endpoint. */
  redemptions: number;
  /** Number of different access tokens. */
  tokens: number;
}

/** Number of concurrent requests of a busy agent. */
const askers = 20;

/**
 * Fact: 20 requests find their token rejected at once, and the client library renews it for all of them.
 * @see RFC 9700 section 4.14 (T-188)
 */
export async function parallelRefresh(subject: Subject): Promise<Step<Rehearsal>> {
  const before = await subject.fact(firstRefresh);
  if (before.kind === 'undone') return before;
  const { session, answer } = before;
  if (answer.tokens === undefined)
    return {
      kind: 'undone',
      judgement: unknown('The login cannot be refreshed.', { because: 'LOGIN-REFRESH' }),
    };
  const { context } = subject;
  const { server, authorizationServer: as } = session.found;
  let redemptions = 0;
  const fetch: Fetch = (url, init) => {
    if (String(url) === as.token_endpoint) redemptions++;
    return context.fetch(url, init);
  };
  const store = createMemoryStore();
  await store.saveRegistration(session.client);
  await store.saveCredential(server, credentialOf(session, context.now()));
  const rejected = session.held.accessToken;
  const ask = () => freshCredential({ ...context, fetch }, store, server, rejected).catch(() => undefined);
  const given = await Promise.all(Array.from({ length: askers }, ask));
  const credentials = given.filter((one) => one !== undefined);
  const latest = credentials.at(-1);
  if (latest !== undefined)
    session.held = {
      ...session.held,
      accessToken: latest.accessToken,
      ...(latest.refreshToken === undefined ? {} : { refreshToken: latest.refreshToken }),
    };
  const tokens = new Set(credentials.map(({ accessToken }) => accessToken)).size;
  return { kind: 'done', askers, served: credentials.length, redemptions, tokens };
}

/** Result of a repeated refresh token. */
interface Reuse {
  /** Numbers of the exchanges with the token endpoint: the use, each reuse, and the use of the newest token. */
  evidence: readonly number[];
  /** Seconds after its use at which it was still accepted; undefined if it never was. */
  takenUntil?: number;
  /** Seconds after its use at which it returned other tokens; undefined if it never did. */
  renewedAt?: number;
  /** Seconds after its use at which it was rejected; undefined if it was accepted to the end. */
  refusedAfter?: number;
  /** The latest rejection. */
  refusal?: TokenAnswer;
  /** State of the latest refresh token afterwards; absent if nothing was rejected. */
  latest?: TokenAnswer;
}

/**
 * Times at which a used refresh token is tried again, in seconds after its use. A grace window can be longer: nobody
 * waits for its end.
 */
const reuseAfterSeconds = [0, 5, 15, 30, 60] as const;

/**
 * Fact: the reuse of the first refresh token until it is rejected, and the state of the login afterwards. The newer
 * refresh token was used by then, because some servers accept the old one until that. This ends the login at a server
 * that detects reuse.
 * @see RFC 9700 section 4.14.2
 */
export async function reuse(subject: Subject): Promise<Step<Reuse>> {
  const before = await subject.fact(firstRefresh);
  if (before.kind === 'undone') return before;
  const { session, used, answer } = before;
  const issued = answer.tokens?.refreshToken;
  if (issued === undefined || issued === used)
    return {
      kind: 'undone',
      judgement: skip('The refresh token was not rotated.', { because: 'LOGIN-ROTATION' }),
    };
  await subject.fact(parallelRefresh);
  const { found, client } = session;
  const evidence = [...answer.answer.evidence];
  const result: Omit<Reuse, 'evidence'> = {};
  for (const seconds of subject.login?.reuseAfterSeconds ?? reuseAfterSeconds) {
    const waitMs = answer.atMs + seconds * 1000 - Date.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const again = await askForTokens(subject, found.authorizationServer, client, {
      grant_type: 'refresh_token',
      refresh_token: used,
      resource: found.resource,
    });
    evidence.push(...again.answer.evidence);
    const age = Math.max(0, Math.round((again.atMs - answer.atMs) / 100) / 10);
    if (again.tokens === undefined) {
      result.refusedAfter = age;
      result.refusal = again;
      break;
    }
    result.takenUntil = age;
    const isSame =
      again.tokens.accessToken === answer.tokens?.accessToken && again.tokens.refreshToken === issued;
    if (!isSame) result.renewedAt ??= age;
  }
  if (result.refusal !== undefined) {
    result.latest = await refreshSession(subject, session);
    evidence.push(...result.latest.answer.evidence);
  }
  return { kind: 'done', evidence, ...result };
}
