import { hash } from 'node:crypto';
import { keepNewest } from '../../collections/keep-newest.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/** What was learned of a token: who calls with it, or that it is not good. */
export type Learned = AuthInfo | undefined;

/** What is remembered of tokens for a while. */
export interface AnswerCache {
  /** Gives what is known of a token, and asks where nothing is; once for all who want to know at the same time. */
  find(token: string, ask: () => Promise<Learned>): Promise<Learned>;
}

/** Most good, and most bad tokens that are remembered: a flood of bad ones drives out no good one. */
const maxKept = 10_000;

/** Bounds of what is remembered. */
export interface AnswerCacheOptions {
  /** How long an answer stands, never beyond the end of its token; 0 for no longer than it takes to give it. */
  keepSeconds: number;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Creates the memory of what an issuer said of tokens. It knows tokens by their hashes; a failure is not remembered.
 * @see RFC 7662 section 4 (the time an answer is kept is the time a revoked token goes on)
 */
export function createAnswerCache({ keepSeconds, now }: AnswerCacheOptions): AnswerCache {
  const good = new Map<string, { learned: Learned; until: number }>();
  const bad = new Map<string, { learned: Learned; until: number }>();
  const underWay = new Map<string, Promise<Learned>>();

  const keep = (name: string, learned: Learned): void => {
    const kept = learned ? good : bad;
    const until = Math.min(now() + keepSeconds, learned?.expiresAt ?? Number.POSITIVE_INFINITY);
    if (until > now()) keepNewest(kept, name, { learned, until }, maxKept);
    else kept.delete(name);
  };

  return {
    async find(token, ask) {
      const name = hash('sha256', token, 'base64url');
      const known = good.get(name) ?? bad.get(name);
      if (known && known.until > now()) return known.learned;
      const running = underWay.get(name);
      if (running) return running;
      const asked = ask()
        .then((learned) => {
          good.delete(name);
          keep(name, learned);
          return learned;
        })
        .finally(() => underWay.delete(name));
      underWay.set(name, asked);
      return asked;
    },
  };
}
