import type { ReloadOutcome } from '../index.ts';
import { printableLine } from './output.ts';

const changes = ['added', 'changed', 'removed'] as const;

function listed(routes: readonly string[]): string {
  return routes.map(printableLine).join(', ');
}

type Done = Exclude<ReloadOutcome, { problems: unknown }>;

/** A file that is saved is read by itself, often before anybody can ask for it. */
function describeEarlier({ cause, secondsAgo, routes }: NonNullable<Done['earlier']>): string {
  const what = changes
    .filter((change) => routes[change].length > 0)
    .map((change) => `${change} ${listed(routes[change])}`);
  return `read ${secondsAgo.toFixed(1)} s ago already (${printableLine(cause)}): ${what.join('; ')}`;
}

/** Says what a reload changed, a line each. */
export function describeReload({ routes, needRestart, earlier }: Done): string {
  const lines = ([...changes, 'kept'] as const)
    .filter((what) => routes[what].length > 0)
    .map((what) => `${what}: ${listed(routes[what])}`);
  const later = needRestart.length > 0 ? [`after a restart: ${needRestart.join(', ')}`] : [];
  const before = earlier ? [describeEarlier(earlier)] : [];
  return [...(lines.length > 0 ? lines : ['There are no routes.']), ...later, ...before].join('\n');
}
