import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { missingScopes } from '../../oauth/scope.ts';
import type { Note, NoteStore } from '../../storage/notes.ts';
import { callerOf } from '../caller.ts';
import { showNote } from './note-view.ts';
import { notesScopeRules } from './scopes.ts';
import { maxNotes } from './tools.ts';

/** Longest name of a note in a listing, in characters. */
const maxNameLength = 60;

const listUri = 'notes://';

function nameOf({ text }: Note): string {
  const [line = ''] = text.trim().split('\n');
  const short = line.slice(0, maxNameLength).toWellFormed();
  return short.length < line.length ? `${short}…` : short || 'Note';
}

/**
 * Registers the account's notes as resources: `notes://` lists them, `notes://{id}` is one. Reading is guarded by the
 * scope rules; a caller who may not read gets an empty listing.
 */
export function registerResources(server: McpServer, notes: NoteStore): void {
  const scopesToRead = notesScopeRules.resources?.[listUri] ?? [];

  server.registerResource(
    'notes',
    listUri,
    { title: 'Notes', description: 'All notes of the account, newest first.', mimeType: 'application/json' },
    async (uri, context) => {
      const all = await notes.list(callerOf(context).subject, maxNotes);
      const text = JSON.stringify({ notes: all.map(showNote) });
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
    },
  );

  const template = new ResourceTemplate('notes://{id}', {
    list: async (context) => {
      const { subject, scopes } = callerOf(context);
      if (missingScopes(scopes, scopesToRead).length > 0) return { resources: [] };
      const all = await notes.list(subject, maxNotes);
      return { resources: all.map((note) => ({ uri: `notes://${note.id}`, name: nameOf(note) })) };
    },
  });
  server.registerResource(
    'note',
    template,
    { title: 'Note', description: 'One note of the account.', mimeType: 'text/plain' },
    async (uri, { id }, context) => {
      const note = await notes.get(callerOf(context).subject, String(id));
      if (!note) throw new ResourceNotFoundError(uri.href);
      return { contents: [{ uri: uri.href, mimeType: 'text/plain', text: note.text }] };
    },
  );
}
