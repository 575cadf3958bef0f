import type { ToolPin, ToolPinStore } from '../../storage/tool-pins.ts';
import { AdministrationRefused } from './administration-refused.ts';
import type { RecordAction } from './recorded.ts';

/**
 * What an operator does about tools of MCP servers behind the gate whose definitions are remembered.
 * @param record takes note of each
 */
export function administerToolPins(store: ToolPinStore, now: () => number, record: RecordAction) {
  return {
    /** Gives the remembered tools of a route, or of all. */
    list: (route?: string): Promise<ToolPin[]> => store.list(route),
    /**
     * Takes the changes of tools for their definitions, as they are noted now.
     * @param tools all of the route that changed, where none is named
     * @returns those that were accepted
     * @throws AdministrationRefused where a tool that is named did not change
     */
    async accept(route: string, tools: readonly string[] = []): Promise<string[]> {
      const changed = (await store.list(route)).filter((pin) => pin.changed !== undefined);
      const unknown = tools.filter((name) => !changed.some(({ tool }) => tool === name));
      if (unknown.length > 0)
        throw new AdministrationRefused(
          `No change is noted of ${unknown.join(', ')} of the route ${route}: gatehouse pins list shows those there are.`,
        );
      const accepted: string[] = [];
      for (const { tool, changed: change } of changed) {
        if (tools.length > 0 && !tools.includes(tool)) continue;
        if (!(await store.accept(route, tool, change?.hash ?? '', now()))) continue;
        await record('tool.definition_accepted', { route, tool, hash: change?.hash ?? '' });
        accepted.push(tool);
      }
      return accepted;
    },
    /**
     * Forgets a tool, or all of a route: how it is seen next is how it is remembered.
     * @returns how many were forgotten
     */
    async forget(route: string, tool?: string): Promise<number> {
      const count = await store.forget(route, tool);
      if (count > 0)
        await record('tool.definition_forgotten', { route, ...(tool !== undefined && { tool }) });
      return count;
    },
  };
}
