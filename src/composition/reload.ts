import { isDeepStrictEqual } from 'node:util';
import type { AuditTrail } from '../authorization-server/index.ts';
import type { Logger } from '../observability/logger.ts';
import { parseSettings, type Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { adviseOnRoutes } from '../settings-advice.ts';
import type { Cluster } from './cluster.ts';
import type { ResolvedRoute } from './resolve-routes.ts';
import {
  type RoutesChange,
  recordRoutesChange,
  type ServedRoutes,
  type ServingOptions,
} from './served-routes.ts';

/** A recent change of the routes with another cause than the reload that reports it. */
interface EarlierChange {
  /** The cause of that change, such as a saved file. */
  cause: string;
  secondsAgo: number;
  routes: RoutesChange;
}

/** The result of a reload. */
export type ReloadOutcome =
  | {
      routes: RoutesChange;
      /** Settings that differ from the running ones: they take effect after a restart. */
      needRestart: string[];
      /** The change right before, if this reload found nothing to change: most often the file was just saved. */
      earlier?: EarlierChange;
    }
  | {
      /** Problems of the settings. Nothing has changed. */
      problems: readonly string[];
    };

/** Parts of {@link createRouteReplacement}. */
export interface RouteReplacementParts {
  /** The settings that the code gave; their routes are replaced. */
  input: object;
  resolve: (settings: Pick<Settings, 'routes'>) => readonly ResolvedRoute[];
  routes: Pick<ServedRoutes, 'replace'>;
  serving: ServingOptions;
  cluster: Pick<Cluster, 'showReload'>;
  auditTrail: Pick<AuditTrail, 'note'>;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Creates the function that serves other routes from now on, records the change, and gives advice on new settings.
 * @returns a function that throws SettingsRefused naming every problem; nothing has changed then
 */
export function createRouteReplacement(parts: RouteReplacementParts) {
  const { input, resolve, routes, serving, cluster, logger } = parts;
  return (others: unknown): RoutesChange => {
    const next = parseSettings({ ...input, routes: others });
    const change = routes.replace(resolve(next), serving);
    recordRoutesChange(change, parts);
    cluster.showReload(next.routes);
    const fresh = [...change.added, ...change.changed];
    const freshRoutes = Object.entries(next.routes).filter(([name]) => fresh.includes(name));
    for (const advice of adviseOnRoutes(Object.fromEntries(freshRoutes))) logger.warn(advice);
    return change;
  };
}

/** Options of {@link createReload}. */
export interface ReloadOptions {
  /** The settings that the server was started with. */
  started: Settings;
  replaceRoutes: (routes: Settings['routes']) => RoutesChange;
  cluster: Pick<Cluster, 'showReload'>;
  logger: Pick<Logger, 'info' | 'error'>;
  /** Milliseconds, of a monotonic clock. */
  nowMs?: () => number;
}

/** Maximum age of a change that a reload without changes still reports, in milliseconds. */
const earlierMs = 60_000;

/**
 * Creates the function that reloads settings. Routes change at once; other settings are listed as needing a restart.
 * Settings that cannot be used change nothing.
 * @returns a function that takes a loader of settings, and the cause for the log
 */
export function createReload({
  started,
  replaceRoutes,
  cluster,
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
    if ('problems' in outcome) {
      logger.error(
        { cause, ...outcome },
        'the settings were reloaded and cannot be used: nothing has changed',
      );
      cluster.showReload(undefined);
    } else {
      logger.info({ cause, ...outcome }, 'the settings were reloaded');
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
