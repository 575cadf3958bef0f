import type { CallCursor, CallQuery, CallStore } from '../../storage/calls.ts';
import { StorageUnavailable } from '../../storage/storage.ts';
import { showPage } from '../interactions/page.ts';
import { type AppActivity, renderActivity } from '../views/account/activity.ts';
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
  'isUnavailable' | 'targets' | 'hasMoreTargets' | 'credentials' | 'calls' | 'older'
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
    const counts = await calls.count(query, { by: ['route', 'method', 'target'], limit: maxTargets + 1 });
    const used = await calls.count(query, { by: ['credential'], limit: maxTargets });
    const shown = rows.slice(0, pageLength);
    const last = shown.at(-1);
    return {
      isUnavailable: false,
      targets: counts.slice(0, maxTargets).map(({ group, lastAt, ...count }) => ({
        ...count,
        name: group.target ?? group.method ?? '',
        route: group.route ?? '',
        lastAt: Math.floor(lastAt / 1000),
      })),
      hasMoreTargets: counts.length > maxTargets,
      credentials: used.flatMap(({ group: { credential }, calls: count }) =>
        (credential ?? '').split(',').flatMap((name) => (name === '' ? [] : [{ name, calls: count }])),
      ),
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
    const nothing = { targets: [], hasMoreTargets: false, credentials: [], calls: [], older: undefined };
    return { isUnavailable: true, ...nothing };
  }
}

/** Reads the place at which a page continues; the newest calls for anything else. */
function readCursor(text: unknown): CallCursor | undefined {
  const [, at, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(String(text)) ?? [];
  return at === undefined ? undefined : { at: Number(at), seq: Number(seq) };
}
