import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../observability/logger.ts';
import { parseSettings, type Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { RoutesChange } from './served-routes.ts';

/** A change of routes that came of something else than the reload that tells of it. */
interface EarlierChange {
  /** What had the settings read then, such as a file that was saved. */
  cause: string;
  secondsAgo: number;
  routes: RoutesChange;
}

/** What became of a reload. */
export type ReloadOutcome =
  | {
      routes: RoutesChange;
      /** Settings that are others in the file than the server runs with: they count after a restart. */
      needRestart: string[];
      /** Where this one found nothing to change: what was changed right before, most often by the file being saved. */
      earlier?: EarlierChange;
    }
  | {
      /** Why nothing has changed. */
      problems: readonly string[];
    };

/** What a reload works with. */
export interface ReloadOptions {
  /** What the server was started with. */
  started: Settings;
  replaceRoutes: (routes: Settings['routes']) => RoutesChange;
  logger: Pick<Logger, 'info' | 'error'>;
  /** A clock that only goes forward, in milliseconds. */
  nowMs?: () => number;
}

/** How long a change is told to whoever reloads and finds nothing to change, in milliseconds. */
const earlierMs = 60_000;

/**
 * Creates what takes settings that were read again. Routes take effect at once; of the other settings it says which
 * would need a restart. Settings that cannot be used change nothing.
 * @returns takes what reads them, and what caused it, for the log
 */
export function createReload({
  started,
  replaceRoutes,
  logger,
  nowMs = () => performance.now(),
}: ReloadOptions) {
  let last: { cause: string; atMs: number; routes: RoutesChange } | undefined;
  const earlierThan = (cause: string): EarlierChange | undefined => {
    if (last === undefined || last.cause === cause) return undefined;
    const agoMs = nowMs() - last.atMs;
    return agoMs > earlierMs
      ? undefined
      : { cause: last.cause, secondsAgo: agoMs / 1000, routes: last.routes };
  };
  return (load: () => unknown, cause: string): ReloadOutcome => {
    const outcome = attempt(() => {
      const settings = parseSettings(load());
      return { routes: replaceRoutes(settings.routes), needRestart: otherSettings(started, settings) };
    });
    if ('problems' in outcome)
      logger.error({ cause, ...outcome }, 'settings were read again in vain: nothing has changed');
    else {
      logger.info({ cause, ...outcome }, 'settings were read again');
      const { added, changed, removed } = outcome.routes;
      if (added.length + changed.length + removed.length === 0) {
        const earlier = earlierThan(cause);
        return earlier ? { ...outcome, earlier } : outcome;
      }
      last = { cause, atMs: nowMs(), routes: outcome.routes };
    }
    return outcome;
  };
}

function attempt(reload: () => ReloadOutcome): ReloadOutcome {
  try {
    return reload();
  } catch (error) {
    return { problems: error instanceof SettingsRefused ? error.problems : [(error as Error).message] };
  }
}

function otherSettings(started: Settings, read: Settings): string[] {
  const { routes: _started, ...before } = started;
  const { routes: _read, ...after } = read;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof before>;
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
}
