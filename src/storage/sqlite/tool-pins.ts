import type Database from 'better-sqlite3';
import type { ToolDefinition, ToolPin, ToolPinStore } from '../tool-pins.ts';
import type { Writer } from './writer.ts';

interface Row {
  route: string;
  tool: string;
  hash: string;
  definition: string | null;
  pinnedAt: number;
  changedHash: string | null;
  changedDefinition: string | null;
  changedAt: number | null;
}

/** The remembered tools of a SQLite database. */
export function createToolPinStore(db: Database.Database, writer: Writer): ToolPinStore {
  const list = db.prepare<{ route: string | null }, Row>(
    `SELECT route, tool, hash, definition, pinned_at AS pinnedAt, changed_hash AS changedHash,
       changed_definition AS changedDefinition, changed_at AS changedAt
     FROM tool_pins WHERE @route IS NULL OR route = @route ORDER BY route, tool`,
  );
  const add = db.prepare(
    `INSERT INTO tool_pins (route, tool, hash, definition, pinned_at) VALUES (@route, @tool, @hash, @definition, @at)
     ON CONFLICT (route, tool) DO NOTHING`,
  );
  const noteChange = db.prepare(
    `UPDATE tool_pins SET changed_hash = @hash, changed_definition = @definition, changed_at = @at
     WHERE route = @route AND tool = @tool AND hash <> @hash AND changed_hash IS NOT @hash`,
  );
  const accept = db.prepare(
    `UPDATE tool_pins SET hash = changed_hash, definition = changed_definition, pinned_at = @at, changed_hash = NULL,
       changed_definition = NULL, changed_at = NULL
     WHERE route = @route AND tool = @tool AND changed_hash = @hash`,
  );
  const forget = db.prepare('DELETE FROM tool_pins WHERE route = @route AND (@tool IS NULL OR tool = @tool)');
  const values = (route: string, { tool, hash, definition }: ToolDefinition, at: number) => ({
    route,
    tool,
    hash,
    definition: definition ?? null,
    at,
  });

  return {
    list: async (route) => list.all({ route: route ?? null }).map(pinOf),
    add: (route, tools, at) =>
      writer.write(() => {
        for (const tool of tools) add.run(values(route, tool, at));
      }),
    noteChange: (route, tool, at) =>
      writer.write(() => noteChange.run(values(route, tool, at)).changes === 1),
    accept: (route, tool, hash, at) =>
      writer.write(() => accept.run({ route, tool, hash, at }).changes === 1),
    forget: (route, tool) => writer.write(() => forget.run({ route, tool: tool ?? null }).changes),
  };
}

function pinOf({ definition, changedHash, changedDefinition, changedAt, ...pin }: Row): ToolPin {
  return {
    ...pin,
    ...(definition !== null && { definition }),
    ...(changedHash !== null && {
      changed: {
        hash: changedHash,
        ...(changedDefinition !== null && { definition: changedDefinition }),
        at: changedAt ?? 0,
      },
    }),
  };
}
