import type { ToolPin, ToolPinStore } from '../../storage/tool-pins.ts';
import { AdministrationRefused } from './administration-refused.ts';
import type { RecordAction } from './recorded.ts';

/** Fewer digits of a hash could be met by another definition that somebody looked for. */
const minHashDigits = 16;

/**
 * What an operator does about tools of MCP servers behind the gate whose definitions are remembered.
 * @param record takes note of each
 */
export function administerToolPins(store: ToolPinStore, now: () => number, record: RecordAction) {
  return {
    /** Gives the remembered tools of a route, or of all. */
    list: (route?: string): Promise<ToolPin[]> => store.list(route),
    /**
     * Takes changes of tools for their definitions: those the operator has seen, and nothing that came after them.
     * @param hashes of the changes, or how they begin, with 16 digits at least
     * @returns the tools whose changes were accepted
     * @throws AdministrationRefused where one of them is not noted, or not any more; none is accepted then
     */
    async accept(route: string, hashes: readonly string[]): Promise<string[]> {
      const changed = (await store.list(route)).flatMap(({ tool, changed: change }) =>
        change ? [{ tool, hash: change.hash }] : [],
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
      for (const { tool, hash } of changed.filter((change) =>
        hashes.some((given) => isMeant(change, given)),
      )) {
        if (!(await store.accept(route, tool, hash, now()))) continue;
        await record('tool.definition_accepted', { route, tool, hash });
        accepted.push(tool);
      }
      return accepted;
    },
    /**
     * Forgets a tool, or all of a route: how it is seen next is how it is remembered.
     * @returns how many were forgotten
     * @throws AdministrationRefused where none is remembered
     */
    async forget(route: string, tool?: string): Promise<number> {
      const count = await store.forget(route, tool);
      if (count === 0)
        throw new AdministrationRefused(
          'not_found',
          `Nothing is remembered of that for ${route}. See gatehouse pins list.`,
        );
      await record('tool.definition_forgotten', { route, ...(tool !== undefined && { tool }) });
      return count;
    },
  };
}
