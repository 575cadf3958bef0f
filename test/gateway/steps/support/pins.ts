import { type DefinitionChange, DefinitionPins } from '../../../../src/gateway/steps/definition-pins.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import { openForTest } from '../../../storage/contract/subject.ts';
import { openNewDatabase } from '../../../storage/sqlite/subject.ts';

/** Pinned definitions of the route "notes" in a new database, and what was told of them. */
export async function pinDefinitions(storage?: Storage, onReplaced?: (replaced: () => void) => () => void) {
  const opened = storage ?? (await openForTest(openNewDatabase));
  const told: DefinitionChange[] = [];
  const pins = new DefinitionPins({
    route: 'notes',
    store: opened.definitionPins,
    noteChanged: (details) => told.push(details),
    onReplaced,
    now: () => 1000,
  });
  return { storage: opened, pins, told };
}
