import { createNotesServer, notesScopeRules, notesScopes } from './mcp/notes/server.ts';
import type { OwnServer } from './protected-server.ts';
import type { Storage } from './storage/storage.ts';

/**
 * Creates the default MCP server: notes, separate for each account.
 * @param now epoch seconds
 * @param cursorKey see `createPaging`; by default cursors are valid in this process alone
 */
export function notesServer(
  storage: Pick<Storage, 'notes'>,
  now: () => number,
  cursorKey?: Uint8Array,
): OwnServer {
  return {
    name: 'Gatehouse notes',
    ...createNotesServer({ notes: storage.notes, now, cursorKey }),
    scopes: notesScopes,
    scopeRules: notesScopeRules,
  };
}
