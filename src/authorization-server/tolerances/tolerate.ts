import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToleranceName } from '../../oauth/tolerances.ts';

/** A tolerance that was applied to a request, and the detail of the request that needed it. */
export interface Tolerated {
  tolerance: ToleranceName;
  because: string;
}

interface Indulgence {
  isOn: (name: ToleranceName) => boolean;
  tolerated: Tolerated[];
}

const current = new AsyncLocalStorage<Indulgence>();

/**
 * Decides whether a deviation is tolerated, and records it. Called only if the strict rule would reject the request.
 * Outside of a request nothing is switched off.
 * @param because what the client did, without a secret in it
 * @returns whether the request may go on
 */
export function tolerate(tolerance: ToleranceName, because: string): boolean {
  const indulgence = current.getStore();
  if (!indulgence) return true;
  if (!indulgence.isOn(tolerance)) return false;
  if (!indulgence.tolerated.some((known) => known.tolerance === tolerance))
    indulgence.tolerated.push({ tolerance, because });
  return true;
}

/**
 * Runs a request with the installation's tolerances.
 * @param isOn which are switched on
 * @param serve the request
 * @returns what it was let through with, each tolerance once
 */
export async function serveTolerantly(
  isOn: (name: ToleranceName) => boolean,
  serve: () => Promise<void>,
): Promise<readonly Tolerated[]> {
  const tolerated: Tolerated[] = [];
  await current.run({ isOn, tolerated }, serve);
  return tolerated;
}
