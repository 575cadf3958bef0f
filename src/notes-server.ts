import { keyedDigest } from './crypto/secret.ts';
import { createNotesServer, notesScopeRules, notesScopes } from './mcp/notes/server.ts';
import type { OwnServer } from './protected-server.ts';
import type { Storage } from './storage/storage.ts';

/**
 * Creates the default MCP server: notes, separate for each account.
 * @param now epoch seconds
 * @param secret of the installation, by which cursors are good at each node; without one they are good in this process
 */
export function notesServer(storage: Pick<Storage, 'notes'>, now: () => number, secret?: string): OwnServer {
  const cursorKey =
    secret === undefined ? undefined : Buffer.from(keyedDigest(secret, 'cursors of notes'), 'base64url');
  return {
    name: 'Gatehouse notes',
    ...createNotesServer({ notes: storage.notes, now, cursorKey }),
    scopes: notesScopes,
    scopeRules: notesScopeRules,
  };
}
