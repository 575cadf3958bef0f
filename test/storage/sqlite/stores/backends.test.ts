import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteStorage } from '../../../../src/storage/sqlite/index.ts';
import {
  describeBackendCredentials,
  describeBackendObjects,
  describeDefinitionPins,
} from '../../contract/backends.ts';
import { databaseOf } from '../earlier-database.ts';
import { openNewDatabase } from '../subject.ts';

describe('SQLite', () => describeBackendCredentials(openNewDatabase));

describe('SQLite', () => describeBackendObjects(openNewDatabase));

describe('SQLite', () => describeDefinitionPins(openNewDatabase));

it('pins of tools from before other kinds had some are there with their changes after the migration (T-174, T-210)', async () => {
  const rows = `
    INSERT INTO tool_pins (route, tool, hash, definition, pinned_at, changed_hash, changed_definition, changed_at)
      VALUES ('notes', 'read', 'one', '{}', 5, 'two', NULL, 6), ('notes', 'write', 'x', NULL, 7, NULL, NULL, NULL)`;
  const storage = openSqliteStorage(databaseOf(21, rows));
  onTestFinished(() => storage.close());
  expect(await storage.definitionPins.list()).toEqual([
    {
      ...{ route: 'notes', kind: 'tool', name: 'read', hash: 'one', definition: '{}', pinnedAt: 5 },
      changed: { hash: 'two', at: 6 },
    },
    { route: 'notes', kind: 'tool', name: 'write', hash: 'x', pinnedAt: 7 },
  ]);
});
