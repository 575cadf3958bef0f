import { createMemoryStore, type Fetch, freshCredential } from '../../client/index.ts';
import type { Judgement } from '../finding.ts';
import { skip, unknown } from '../judgements.ts';
import type { Subject } from '../subject.ts';
import { credentialOf, firstSession, refreshSession, type Session } from './session.ts';
import { askForTokens, type TokenAnswer } from './token-answer.ts';

/** The first refresh of the login. */
export interface FirstRefresh {
  session: Session;
  /** The refresh token that was used; only to be used again. */
  used: string;
  answer: TokenAnswer;
}

/** A step with the refresh tokens of the first login, or why it was not taken. */
export type Step<T> = ({ kind: 'done' } & T) | { kind: 'undone'; judgement: Judgement };

/**
 * Probe: refreshes the first login long before its token ends.
 * @param subject the server under examination
 */
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

/** Result of the rehearsal. */
export interface Rehearsal {
  /** Number of concurrent requests. */
  askers: number;
  /** Number of requests that got a token. */
  served: number;
  /** Number of requests that reached the token endpoint. */
  redemptions: number;
  /** Different access tokens given out. */
  tokens: number;
}

/** As many as a busy agent has requests under way. */
const askers = 20;

/**
 * Probe: 20 requests find their token rejected at once, and this client renews it for all of them.
 * @param subject the server under examination
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
export interface Reuse {
  /** Numbers of the exchanges with the token endpoint: the use, each use after it, and the look at the newest token. */
  evidence: readonly number[];
  /** Seconds after its use at which it was still taken; undefined if it never was. */
  takenUntil?: number;
  /** Seconds after its use at which it got other tokens than at its use; undefined if it never did. */
  renewedAt?: number;
  /** Seconds after its use at which it was refused; undefined if it was taken to the end. */
  refusedAfter?: number;
  /** The latest refusal. */
  refusal?: TokenAnswer;
  /** State of the latest refresh token of the login afterwards; absent if nothing was refused. */
  latest?: TokenAnswer;
}

/**
 * Times at which a used refresh token is tried again, in seconds after its use. A grace window can be longer: nobody
 * waits for its end.
 */
const reuseAfterSeconds = [0, 5, 15, 30, 60] as const;

/** Longest time the reuse of a refresh token is watched by default, in milliseconds, answers included. */
export const reusePatienceMs = 120_000;

/**
 * Probe: uses the first refresh token of the login again, until it is refused; then looks whether the login ended with it.
 * The one that replaced it was used by then, for some servers take the old one until that. This ends the login at a server
 * that detects reuse.
 * @param subject the server under examination
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
