import { expect, test } from 'vitest';
import { notesServer } from '../src/notes-server.ts';
import { readOwnServer } from '../src/protected-server.ts';
import { createMemoryNotes } from './mcp/support/note-store.ts';

test('the server that is served where none was brought is one for all callers, with scopes for its tools', () => {
  const server = readOwnServer(
    notesServer({ notes: createMemoryNotes() }, () => 0),
    'https://mcp.example.com',
  );
  expect(server).toMatchObject({ name: 'Gatehouse notes', source: { sharing: 'shared' } });
  expect(Object.keys(server.scopes)).toEqual(['notes:read', 'notes:write']);
  expect(server.scopeRules.tools?.add_note).toEqual(['notes:write']);
});
