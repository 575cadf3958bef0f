import type { DefinitionKind, DefinitionPin, DefinitionPinStore } from '../../storage/backends.ts';
import { AdministrationRefused } from './administration-refused.ts';
import type { RecordAction } from './recorded.ts';

/** Fewer digits of a hash could be met by another definition that somebody looked for. */
const minHashDigits = 16;

/**
 * Creates an operator's actions on the pinned definitions of MCP servers behind the gate.
 * @param record takes note of each
 */
export function administerDefinitionPins(
  store: DefinitionPinStore,
  now: () => number,
  record: RecordAction,
  tellNodes: (route: string) => Promise<void>,
) {
  return {
    /** Lists the pins of a route, or of all. */
    list: (route?: string): Promise<DefinitionPin[]> => store.list(route),
    /**
     * Accepts changes of definitions: those the operator has seen, and nothing that came after them.
     * @param hashes of the changes, or how they begin, with 16 digits at least
     * @returns the names of the definitions whose changes were accepted
     * @throws AdministrationRefused if one of them is not noted, or not any more; none is accepted then
     */
    async accept(route: string, hashes: readonly string[]): Promise<string[]> {
      const changed = (await store.list(route)).flatMap(({ kind, name, changed: change }) =>
        change ? [{ kind, name, hash: change.hash }] : [],
      );
      const isMeant = ({ hash }: { hash: string }, given: string): boolean =>
        given.length >= minHashDigits && hash.startsWith(given.toLowerCase());
      const unknown = hashes.filter((given) => !changed.some((change) => isMeant(change, given)));
      if (unknown.length > 0)
        throw new AdministrationRefused(
          'not_found',
          `No change ${unknown.join(', ')} of the route ${route} is noted, or not any more: look at what gatehouse pins list shows, and accept the hashes of what you have seen (${minHashDigits} digits at least).`,
        );
      const accepted: string[] = [];
      for (const change of changed.filter((one) => hashes.some((given) => isMeant(one, given)))) {
        if (!(await store.accept(route, change, now()))) continue;
        await record('definition.accepted', { route, ...change });
        accepted.push(change.name);
      }
      await tellNodes(route);
      return accepted;
    },
    /**
     * Removes the pins of a route, those of one name, or those of one kind: what is seen next is pinned.
     * @returns how many were removed
     * @throws AdministrationRefused if there are none
     */
    async forget(route: string, which: { name?: string; kind?: DefinitionKind } = {}): Promise<number> {
      const count = await store.forget(route, which);
      if (count === 0)
        throw new AdministrationRefused(
          'not_found',
          `Nothing is remembered of that for ${route}. See gatehouse pins list.`,
        );
      await record('definition.forgotten', { route, ...which });
      await tellNodes(route);
      return count;
    },
  };
}
