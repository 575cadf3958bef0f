import type { JsonRpcError } from '../../mcp/protocol.ts';

/** Returns the reason why a name is missing from a list; undefined if none is known. */
export type AbsenceOf = (name: string) => JsonRpcError | undefined;

const ofResults = new WeakMap<object, AbsenceOf>();

/** Notes what a list is without, because a part of it could not be had. @returns the result, this very object */
export function withAbsence<T extends object>(result: T, absenceOf: AbsenceOf): T {
  ofResults.set(result, absenceOf);
  return result;
}

/** Returns what this very result is without, as it was noted; undefined if nothing was. */
export function absenceIn(result: object): AbsenceOf | undefined {
  return ofResults.get(result);
}
