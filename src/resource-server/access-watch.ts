import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuthInfo } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';

/** Queries of the watch to the issuer of this installation. */
export interface StandingTokens {
  /** Returns those of the token ids that were not revoked. */
  standing(tokenIds: readonly string[]): Promise<readonly string[]>;
  /** Returns a mark: as long as it stays the same, no token was revoked, by whichever process. */
  revocationMark(): Promise<number>;
}

/** Options of {@link createAccessWatch}. */
export interface AccessWatchOptions {
  source: StandingTokens;
  /** Returns epoch seconds. */
  now: () => number;
  logger: Pick<Logger, 'warn'>;
  /** Interval of the checks, in milliseconds; 200 by default. */
  intervalMs?: number;
}

/** Time for a caller to return with a renewed token, after the access token expired. */
export interface Renewal {
  /** At most `accessTokenRetentionSeconds`: later a revocation cannot be told from the sweep. */
  seconds: number;
  /** Called once when the token expires. */
  onExpiry(): void;
}

/** Reports the end of a caller's access during open streams. */
export interface AccessWatch {
  /**
   * Calls `onEnd` once, within a second after the access token is revoked or expires. With a `renewal`, an expired token
   * ends the access only after that time, and a revoked one still at once. A token of another issuer, which has no
   * `tokenId`, is watched for its expiry only. The access also ends if tokens cannot be checked for half a second.
   * @returns stops watching
   */
  watch(authInfo: AuthInfo, onEnd: () => void, renewal?: Renewal): () => void;
  /** Stops all watching. */
  close(): void;
}

interface Watched {
  authInfo: AuthInfo;
  onEnd: () => void;
  /** Absent once the token has expired, or if an expired token ends the access. */
  renewal?: Renewal;
  endsAt: number;
  /** Mark at which the token was last found valid; absent before the first check. */
  stoodAt?: number;
}

/**
 * Maximum time for which checks may fail, in milliseconds: then streams end, as any of their tokens may have been revoked.
 * Together with two intervals it is less than a second.
 */
const blindMs = 500;

/** Maximum number of tokens per query, so that the query does not delay other requests. */
const batchSize = 500;

/**
 * Creates the watch over the tokens of open streams (A12-04, T-103). A single timer runs while anything is watched. A
 * token is queried once for all its streams, and again if one may have been revoked since.
 */
export function createAccessWatch(options: AccessWatchOptions): AccessWatch {
  const { source, now, logger, intervalMs = 200 } = options;
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  /** Begin of the first check that failed since one succeeded, by `performance.now()`. */
  let failingSince: number | undefined;

  const end = (ended: readonly Watched[]): void => {
    for (const entry of ended) if (watched.delete(entry)) entry.onEnd();
  };

  const noticeExpiry = (): void => {
    end([...watched].filter(({ endsAt }) => endsAt <= now()));
    for (const entry of watched) {
      if (!entry.renewal || entry.authInfo.expiresAt > now()) continue;
      const { onExpiry } = entry.renewal;
      delete entry.renewal;
      onExpiry();
    }
  };

  /** Asks for each token that may have been revoked since its last check, in batches. */
  const ask = async (mark: number): Promise<void> => {
    const byToken = Map.groupBy(
      [...watched].filter(({ authInfo, stoodAt }) => authInfo.tokenId !== undefined && stoodAt !== mark),
      ({ authInfo }) => String(authInfo.tokenId),
    );
    const ids = [...byToken.keys()];
    for (let at = 0; at < ids.length; at += batchSize) {
      if (at > 0) await nextTurn();
      const batch = ids.slice(at, at + batchSize);
      const standing = new Set(await source.standing(batch));
      for (const id of batch) {
        const streams = byToken.get(id) ?? [];
        if (!standing.has(id)) end(streams);
        else for (const stream of streams) stream.stoodAt = mark;
      }
    }
  };

  const check = async (): Promise<void> => {
    const begunAt = performance.now();
    try {
      // Read before the tokens: a revocation during the query changes the next mark.
      const mark = await source.revocationMark();
      // The query of an earlier check may hang for seconds. The mark fails sooner if the database is away.
      if (isAsking) return;
      isAsking = true;
      await ask(mark).finally(() => {
        isAsking = false;
      });
      failingSince = undefined;
    } catch (error) {
      logger.warn({ err: error }, 'open streams could not be checked');
      failingSince ??= begunAt;
      if (performance.now() - failingSince > blindMs)
        end([...watched].filter(({ authInfo }) => authInfo.tokenId !== undefined));
    }
  };

  const checkLater = (): void => {
    if (timer !== undefined || watched.size === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      noticeExpiry();
      if (watched.size > 0) void check();
      checkLater();
    }, intervalMs);
    timer.unref();
  };

  return {
    watch(authInfo, onEnd, renewal) {
      const endsAt = authInfo.expiresAt + (renewal?.seconds ?? 0);
      if (watched.size === 0) failingSince = undefined;
      const entry: Watched = { authInfo, onEnd, endsAt, ...(renewal && { renewal }) };
      watched.add(entry);
      checkLater();
      return () => void watched.delete(entry);
    },
    close() {
      watched.clear();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
