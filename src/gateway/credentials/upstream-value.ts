import { inputOfLink, type MissingLink, noteGeneration, patienceOf } from '../../mcp/building-blocks.ts';
import type { JsonRpcError } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { ValueSource } from './create-credentials.ts';
import {
  credentialMissing,
  credentialRefused,
  credentialUnavailable,
  noPerson,
} from './credential-errors.ts';
import { type AfterRefusal, type CredentialOwner, waitFor } from './credentials.ts';
import { isPerson } from './person-value.ts';

/** A token of an upstream, or the reason why there is none. */
export type UpstreamTokenAnswer =
  | { accessToken: string; expiresAt?: number | undefined; generation: number }
  | 'needs_link'
  | 'needs_scopes'
  | 'unavailable';

/** Source of the upstream tokens of users. */
export interface UpstreamTokenSource {
  /**
   * Returns a valid token. It is renewed if it has expired, or if its generation is that of `after`, which was
   * rejected. Missing scopes are requested from then on.
   */
  token(
    accountId: string,
    upstream: string,
    wishes: { scopes: readonly string[]; after?: number },
  ): Promise<UpstreamTokenAnswer>;
  /** Returns true if there is a token with these scopes. Cheap enough to call often. */
  holds(accountId: string, upstream: string, scopes: readonly string[]): Promise<boolean>;
}

/** Options of a credential that is the token of an upstream. */
interface UpstreamValueOptions {
  /** Issuer of this installation. */
  issuer: string;
  /** Display name of the backend. */
  backend: string;
  /** Name of the upstream in the settings. */
  upstream: string;
  /** Returns the display name of the upstream. */
  labelOf(upstream: string): string;
  scopes: readonly string[];
  tokens: UpstreamTokenSource;
  /** Returns the page on which an account links the upstream. */
  urlFor(accountId: string): string;
  /**
   * True if a process keeps the token: then the end of the token or of the link is reported as a change, so that no
   * process outlives it. False if each request gets the token.
   */
  isKept: boolean;
  /** Epoch seconds. */
  now: () => number;
  logger: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;
}

/** Interval of the checks whether the tokens passed to processes are still valid, in milliseconds. */
const defaultLookEveryMs = 2_000;

/** Maximum number of accounts whose tokens are checked; the oldest is dropped first. */
const maxKept = 1_000;

/** Minimum time between two renewals of a rejected token, in milliseconds. */
const renewEveryMs = 60_000;

/** Maximum number of accounts with a known token. */
const maxGiven = 10_000;

/** The token that was passed on for an account. */
interface Given {
  generation: number;
  /** Time of its replacement, by `performance.now()`; -Infinity for the first. */
  sinceMs: number;
  /** Time of its last renewal after a rejection. */
  renewedMs: number;
  /** A running renewal, shared by all rejected requests. */
  renewing?: Promise<AfterRefusal> | undefined;
}

/** Creates the source of upstream tokens for callers, never of the callers' own tokens (A7-04). */
export function createUpstreamValue(
  options: UpstreamValueOptions,
  lookEveryMs = defaultLookEveryMs,
): ValueSource {
  const { issuer, backend, upstream, labelOf, scopes, tokens, urlFor, isKept, now, logger } = options;
  const listeners = new Set<(account: CredentialOwner) => void>();
  /** Expiry of the tokens passed to processes, by account. */
  const kept = new Map<string, number | undefined>();
  const given = new Map<string, Given>();
  let timer: NodeJS.Timeout | undefined;
  let cannotLook = false;

  async function look(): Promise<void> {
    for (const [subject, expiresAt] of kept) {
      const hasEnded = expiresAt !== undefined && expiresAt <= now();
      if (!hasEnded && (await tokens.holds(subject, upstream, scopes))) continue;
      kept.delete(subject);
      for (const tell of listeners) tell({ issuer, subject });
    }
  }

  /** Logs an outage once, and its end. */
  function noteLook(error: unknown): void {
    const failed = error !== undefined;
    if (failed && !cannotLook)
      logger.warn({ err: error, backend, upstream }, 'tokens of upstreams cannot be looked after');
    if (!failed && cannotLook)
      logger.info({ backend, upstream }, 'tokens of upstreams are looked after again');
    cannotLook = failed;
  }

  function lookLater(): void {
    if (timer || kept.size === 0 || listeners.size === 0) return;
    timer = setTimeout(() => {
      look()
        .then(() => noteLook(undefined), noteLook)
        .finally(() => {
          timer = undefined;
          lookLater();
        });
    }, lookEveryMs).unref();
  }

  function keep(subject: string, expiresAt: number | undefined): void {
    if (!isKept) return;
    kept.delete(subject);
    const [oldest] = kept.keys();
    if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
    kept.set(subject, expiresAt);
    lookLater();
  }

  function note(subject: string, generation: number): Given {
    const before = given.get(subject);
    if (before?.generation === generation) return before;
    const sinceMs = before ? performance.now() : -Infinity;
    const now = { generation, sinceMs, renewedMs: before?.renewedMs ?? -Infinity };
    given.delete(subject);
    given.set(subject, now);
    const [oldest] = given.keys();
    if (given.size > maxGiven && oldest !== undefined) given.delete(oldest);
    return now;
  }

  const named = () => ({ backend, label: `your account at ${labelOf(upstream)}` });

  function errorFor(found: Exclude<UpstreamTokenAnswer, object>, subject: string): JsonRpcError {
    if (found === 'unavailable') return credentialUnavailable(named());
    const missing: MissingLink = {
      missing: found === 'needs_link' ? 'link' : 'scopes',
      upstream,
      label: labelOf(upstream),
      url: urlFor(subject),
      accountId: subject,
      scopes,
    };
    const isGiven = () => tokens.holds(subject, upstream, scopes);
    return credentialMissing(named(), inputOfLink(missing, { isGiven }));
  }

  function noteUnreadable(error: unknown): 'unavailable' {
    logger.error({ err: error, backend, upstream }, 'the token of an upstream cannot be read');
    return 'unavailable';
  }

  /** Returns the token of a caller, and waits if the user is linking the upstream just now. */
  async function tokenOf(caller: AuthInfo): Promise<UpstreamTokenAnswer> {
    const { subject } = caller;
    const ask = () => tokens.token(subject, upstream, { scopes });
    const found = await ask();
    const patienceMs = patienceOf(caller);
    if ((found !== 'needs_link' && found !== 'needs_scopes') || patienceMs === 0) return found;
    const isHeld = await waitFor(
      async () => (await tokens.holds(subject, upstream, scopes)) || undefined,
      patienceMs,
    );
    return isHeld ? ask() : found;
  }

  async function renew(subject: string, { generation: after }: Given): Promise<AfterRefusal> {
    const found = await tokens.token(subject, upstream, { scopes, after }).catch(noteUnreadable);
    if (typeof found === 'string') return { error: errorFor(found, subject) };
    const renewed = note(subject, found.generation);
    renewed.renewedMs = performance.now();
    return found.generation === after ? { error: refusedError(subject) } : 'renewed';
  }

  const refusedError = (subject: string): JsonRpcError =>
    credentialRefused(named(), 'Link it again on your account page.', urlFor(subject));

  return {
    async find(caller) {
      if (!isPerson(caller, issuer)) return { error: noPerson(named()) };
      const { subject } = caller;
      const found = await tokenOf(caller).catch(noteUnreadable);
      if (typeof found === 'string') return { error: errorFor(found, subject) };
      keep(subject, found.expiresAt);
      note(subject, found.generation);
      noteGeneration(upstream, found.generation);
      return { value: found.accessToken };
    },
    async refused({ subject }, sinceMs) {
      const held = given.get(subject);
      if (!held || held.sinceMs > sinceMs) return 'renewed';
      if (performance.now() - held.renewedMs < renewEveryMs) return { error: refusedError(subject) };
      held.renewing ??= renew(subject, held).finally(() => {
        held.renewing = undefined;
      });
      return held.renewing;
    },
    onChange(tell) {
      listeners.add(tell);
      return () => {
        listeners.delete(tell);
        if (listeners.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}
