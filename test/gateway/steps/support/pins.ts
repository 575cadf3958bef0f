import { ToolPins } from '../../../../src/gateway/steps/tool-pins.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import { openForTest } from '../../../storage/contract/subject.ts';
import { openNewDatabase } from '../../../storage/sqlite/subject.ts';

/** Remembered tools of the route "notes" in a new database, and what was told of them. */
export async function rememberTools(storage?: Storage) {
  const opened = storage ?? (await openForTest(openNewDatabase));
  const told: { route: string; tool: string; hash: string }[] = [];
  const pins = new ToolPins({
    route: 'notes',
    store: opened.toolPins,
    noteChanged: (details) => told.push(details),
    now: () => 1000,
  });
  return { storage: opened, pins, told };
}
