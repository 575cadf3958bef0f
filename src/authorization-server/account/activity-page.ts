import type { CallCount, CallCursor, CallQuery, CallStore } from '../../storage/calls.ts';
import { StorageUnavailable } from '../../storage/storage.ts';
import { showPage } from '../interactions/page.ts';
import { type AppActivity, renderActivity, type UsedTarget } from '../views/account/activity.ts';
import type { ConnectedApp } from '../views/account/overview.ts';
import { PageMissing, type PersonalRequest } from './account-request.ts';
import type { ConnectedApps } from './connected-apps.ts';

/** Options of the page. */
export interface ActivityPageOptions {
  apps: Pick<ConnectedApps, 'list'>;
  calls: Pick<CallStore, 'list' | 'count'>;
  /** Epoch seconds. */
  now: () => number;
}

/** Number of days that the page covers. */
const days = 28;

/** Calls of a page. */
const pageLength = 50;

/** Most calls that are counted: the records of new calls wait for it. */
const maxCounted = 50_000;

/** Most tools, prompts and resources of the summary. */
const maxTargets = 100;

/**
 * Shows what an app did as the person.
 * @throws PageMissing if it is not one of the person's (T-124)
 */
export async function showActivity(request: PersonalRequest, options: ActivityPageOptions): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const app = (await options.apps.list(who.account.id)).find(({ id }) => id === ctx.query.app);
  if (!app) throw new PageMissing();
  const read = await readActivity(request, app, options);
  showPage(ctx, renderActivity(texts, { url, csrf, id: app.id, client: app.client, days, ...read }));
}

type Read = Pick<
  AppActivity,
  'isUnavailable' | 'targets' | 'hasMoreTargets' | 'countedNewest' | 'credentials' | 'calls' | 'older'
>;

async function readActivity(
  { ctx, url, who }: PersonalRequest,
  app: ConnectedApp,
  { calls, now }: ActivityPageOptions,
): Promise<Read> {
  const query: CallQuery = {
    account: who.account.id,
    client: app.client.clientId,
    since: (now() - days * 86_400) * 1000,
  };
  try {
    const rows = await calls.list(query, pageLength + 1, readCursor(ctx.query.before));
    const by = ['route', 'method', 'target', 'credential'] as const;
    // Read once, of the first page alone and within a bound, as a person may have many calls.
    const isFirst = ctx.query.before === undefined;
    const counts = isFirst
      ? await calls.count(query, { by, limit: 10 * maxTargets, newest: maxCounted })
      : [];
    const counted = counts.reduce((sum, { calls: count }) => sum + count, 0);
    const targets = sumTargets(counts);
    const shown = rows.slice(0, pageLength);
    const last = shown.at(-1);
    return {
      isUnavailable: false,
      targets: targets.slice(0, maxTargets),
      hasMoreTargets: targets.length > maxTargets,
      countedNewest: counted >= maxCounted ? maxCounted : undefined,
      credentials: sumCredentials(counts),
      calls: shown.map(({ at, target, method, route, outcome, reason }) => ({
        at: Math.floor(at / 1000),
        name: target ?? method,
        route,
        outcome,
        ...(reason !== null && { reason }),
      })),
      older:
        rows.length > pageLength && last
          ? `${url}/activity?app=${encodeURIComponent(app.id)}&before=${last.at}-${last.seq}`
          : undefined,
    };
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    const nothing = { targets: [], hasMoreTargets: false, countedNewest: undefined, credentials: [] };
    return { isUnavailable: true, ...nothing, calls: [], older: undefined };
  }
}

/** Sums calls by tool, the most frequent first; the calls of a tool may have used several credentials. */
function sumTargets(counts: readonly CallCount[]): UsedTarget[] {
  const sums = new Map<string, UsedTarget>();
  for (const { group, calls, failed, refused, lastAt } of counts) {
    const name = group.target ?? group.method ?? '';
    const route = group.route ?? '';
    const key = JSON.stringify([route, group.method, name]);
    const sum = sums.get(key) ?? { name, route, calls: 0, failed: 0, refused: 0, lastAt: 0 };
    sums.set(key, {
      ...{
        name,
        route,
        calls: sum.calls + calls,
        failed: sum.failed + failed,
        refused: sum.refused + refused,
      },
      lastAt: Math.max(sum.lastAt, Math.floor(lastAt / 1000)),
    });
  }
  return [...sums.values()].sort((a, b) => b.calls - a.calls);
}

/** Sums calls by the upstreams and keys that servers got for them. */
function sumCredentials(counts: readonly CallCount[]): AppActivity['credentials'] {
  const sums = new Map<string, number>();
  for (const { group, calls } of counts)
    for (const name of (group.credential ?? '').split(','))
      if (name !== '') sums.set(name, (sums.get(name) ?? 0) + calls);
  return [...sums].map(([name, calls]) => ({ name, calls }));
}

/** Reads the place at which a page continues; the newest calls for anything else. */
function readCursor(text: unknown): CallCursor | undefined {
  const [, at, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(String(text)) ?? [];
  return at === undefined ? undefined : { at: Number(at), seq: Number(seq) };
}
