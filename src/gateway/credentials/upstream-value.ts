import { patienceOf } from '../../mcp/upstreams/caller-upstreams.ts';
import { inputOfLink } from '../../mcp/upstreams/link-needed.ts';
import type { MissingLink } from '../../mcp/upstreams/upstream-access.ts';
import type { ValueSource } from './create-credentials.ts';
import { credentialMissing, credentialUnavailable, noPerson } from './credential-errors.ts';
import type { CredentialOwner } from './credentials.ts';
import { isPerson } from './person-value.ts';
import { waitFor } from './wait-for.ts';

/** A token of an upstream, or why there is none. */
export type UpstreamTokenAnswer =
  | { accessToken: string; expiresAt?: number | undefined }
  | 'needs_link'
  | 'needs_scopes'
  | 'unavailable';

/** Gives tokens that upstreams gave for people. */
export interface UpstreamTokenSource {
  /** Gives one that can be used now, renewed where it has ended. Scopes it lacks are asked for from then on. */
  token(
    accountId: string,
    upstream: string,
    wishes: { scopes: readonly string[] },
  ): Promise<UpstreamTokenAnswer>;
  /** Whether there is one by now that was given for enough. It may be looked often. */
  holds(accountId: string, upstream: string, scopes: readonly string[]): Promise<boolean>;
}

/** A credential that is the token of an upstream. */
export interface UpstreamValueOptions {
  /** Issuer of this installation. */
  issuer: string;
  /** What people call the backend. */
  backend: string;
  /** Name of the upstream in the settings. */
  upstream: string;
  /** Gives what people call the upstream. */
  labelOf(upstream: string): string;
  scopes: readonly string[];
  tokens: UpstreamTokenSource;
  /** Gives the page of ours where an account links the upstream. */
  urlFor(accountId: string): string;
  /**
   * Whether the token stays with a process: its end, and that of the link, are then told as changes, so that no process
   * outlives them. Not where each request gets its own.
   */
  isKept: boolean;
  /** Epoch seconds. */
  now: () => number;
  logger: { warn(details: object, message: string): void };
}

/** How often it is looked whether tokens that were given to processes still stand, in milliseconds. */
const defaultLookEveryMs = 2_000;

/** Most accounts that are looked after; the oldest is not, beyond. */
const maxKept = 1_000;

/** Creates what gives each caller the token that an upstream gave for them (A7-04: never the caller's own). */
export function createUpstreamValue(
  options: UpstreamValueOptions,
  lookEveryMs = defaultLookEveryMs,
): ValueSource {
  const { issuer, backend, upstream, labelOf, scopes, tokens, urlFor, isKept, now, logger } = options;
  const listeners = new Set<(account: CredentialOwner) => void>();
  /** When the tokens end that processes were given, by account. */
  const kept = new Map<string, number | undefined>();
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    for (const [subject, expiresAt] of kept) {
      const hasEnded = expiresAt !== undefined && expiresAt <= now();
      if (!hasEnded && (await tokens.holds(subject, upstream, scopes))) continue;
      kept.delete(subject);
      for (const tell of listeners) tell({ issuer, subject });
    }
  }

  function lookLater(): void {
    if (timer || kept.size === 0 || listeners.size === 0) return;
    timer = setTimeout(() => {
      look()
        .catch((error: unknown) => logger.warn({ err: error }, 'tokens of upstreams cannot be looked after'))
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

  return {
    async find(caller) {
      const label = labelOf(upstream);
      const named = { backend, label: `your account at ${label}` };
      if (!isPerson(caller, issuer)) return { error: noPerson(named) };
      const { subject } = caller;
      const ask = () => tokens.token(subject, upstream, { scopes });
      let found = await ask();
      const patienceMs = patienceOf(caller);
      if ((found === 'needs_link' || found === 'needs_scopes') && patienceMs > 0) {
        const isHeld = await waitFor(
          async () => (await tokens.holds(subject, upstream, scopes)) || undefined,
          patienceMs,
        );
        if (isHeld) found = await ask();
      }
      if (found === 'unavailable') return { error: credentialUnavailable(named) };
      if (typeof found !== 'string') {
        keep(subject, found.expiresAt);
        return { value: found.accessToken };
      }
      const missing: MissingLink = {
        missing: found === 'needs_link' ? 'link' : 'scopes',
        upstream,
        label,
        url: urlFor(subject),
        accountId: subject,
        scopes,
      };
      const isGiven = () => tokens.holds(subject, upstream, scopes);
      return { error: credentialMissing(named, inputOfLink(missing, { isGiven })) };
    },
    onChange(tell) {
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
  };
}
