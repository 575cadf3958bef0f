import type { ReloadOutcome } from '../index.ts';
import { printableLine } from './output.ts';

/** Says what a reload changed, a line each. */
export function describeReload({
  routes,
  needRestart,
}: Exclude<ReloadOutcome, { problems: unknown }>): string {
  const lines = (['added', 'changed', 'removed', 'kept'] as const)
    .filter((what) => routes[what].length > 0)
    .map((what) => `${what}: ${routes[what].map(printableLine).join(', ')}`);
  const later = needRestart.length > 0 ? [`after a restart: ${needRestart.join(', ')}`] : [];
  return [...lines, ...later].join('\n') || 'There are no routes.';
}
