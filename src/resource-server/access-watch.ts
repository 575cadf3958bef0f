import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuthInfo } from '../oauth/auth-info.ts';
import type { Logger } from '../observability/logger.ts';

/** What a watch asks of the issuer of this installation. */
export interface StandingTokens {
  /** Gives those of these tokens that were not revoked, by the names under which they are stored. */
  standing(tokenIds: readonly string[]): Promise<readonly string[]>;
  /** Gives a mark: as long as it stays the same, no token was revoked, by whichever process. */
  revocationMark(): Promise<number>;
}

/** What a watch is made of. */
export interface AccessWatchOptions {
  source: StandingTokens;
  /** Epoch seconds. */
  now: () => number;
  logger: Pick<Logger, 'warn'>;
  /** Pause between two looks, in milliseconds; 200 by default. */
  intervalMs?: number;
}

/** Time for a caller to come back with a renewed token, after the access token expired. */
export interface Renewal {
  /** At most `accessTokenKeptSeconds`: later a revocation cannot be told from the sweep. */
  seconds: number;
  /** Called once when the token expires. */
  onExpiry(): void;
}

/** Tells when the access of callers ends while streams of theirs are open. */
export interface AccessWatch {
  /**
   * Calls `onEnd` once, within a second of the access token being revoked or expiring. With a `renewal`, an expired token
   * ends the access only after that time, and a revoked one still at once. A token of another issuer, which has no
   * `tokenId`, is watched for its expiry alone.
   * @returns stops watching
   */
  watch(authInfo: AuthInfo, onEnd: () => void, renewal?: Renewal): () => void;
  /** Stops watching everyone. */
  close(): void;
}

interface Watched {
  authInfo: AuthInfo;
  onEnd: () => void;
  /** Absent once the token has expired, or if an expired token ends the access. */
  renewal?: Renewal;
  endsAt: number;
  /** The mark under which the token was seen to stand; absent before the first look. */
  stoodAt?: number;
}

/** Most tokens asked for at once, so that nobody's request waits long behind the answer. */
const batchSize = 500;

/**
 * Creates the watch over the tokens behind open streams (A12-04, T-103). One timer for all, which runs only while
 * something is watched. A token is looked up once for all its streams, and again when one may have been revoked since.
 */
export function createAccessWatch(options: AccessWatchOptions): AccessWatch {
  const { source, now, logger, intervalMs = 200 } = options;
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;

  const end = (ended: readonly Watched[]): void => {
    for (const entry of ended) if (watched.delete(entry)) entry.onEnd();
  };

  /** Looks at each token that may have been revoked since it was seen to stand, some in a turn of the event loop. */
  const look = async (): Promise<void> => {
    end([...watched].filter(({ endsAt }) => endsAt <= now()));
    for (const entry of watched) {
      if (!entry.renewal || entry.authInfo.expiresAt > now()) continue;
      const { onExpiry } = entry.renewal;
      delete entry.renewal;
      onExpiry();
    }
    // Asked for before the tokens: what is revoked while they are looked up changes the next mark.
    const mark = await source.revocationMark();
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

  const lookAgainLater = (): void => {
    if (timer !== undefined || isLooking || watched.size === 0) return;
    timer = setTimeout(async () => {
      timer = undefined;
      isLooking = true;
      await look().catch((error) => logger.warn({ err: error }, 'open streams could not be checked'));
      isLooking = false;
      lookAgainLater();
    }, intervalMs);
    timer.unref();
  };

  return {
    watch(authInfo, onEnd, renewal) {
      const endsAt = authInfo.expiresAt + (renewal?.seconds ?? 0);
      const entry: Watched = { authInfo, onEnd, endsAt, ...(renewal && { renewal }) };
      watched.add(entry);
      lookAgainLater();
      return () => void watched.delete(entry);
    },
    close() {
      watched.clear();
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
