import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { missingScopes } from '../../oauth/scope.ts';
import type { Note, NoteStore } from '../../storage/storage.ts';
import type { Paging } from '../paging.ts';
import type { ScopeRules } from '../scopes/scope-rules.ts';
import { callerOf } from '../sdk/caller.ts';
import { maxNotes, showNote } from './tools.ts';

/** Longest name of a note in a listing, in characters. */
const maxNameLength = 60;

/** Most resources of one page. */
const pageSize = 50;

const listUri = 'notes://';

function nameOf({ text }: Note): string {
  const [line = ''] = text.trim().split('\n');
  const short = line.slice(0, maxNameLength).toWellFormed();
  return short.length < line.length ? `${short}…` : short || 'Note';
}

/**
 * Registers the account's notes as resources: `notes://` lists them, `notes://{id}` is one. Reading is guarded by the
 * scope rules; a caller without the scope gets a listing without notes.
 */
export function registerResources(server: McpServer, notes: NoteStore, paging: Paging): void {
  const scopesToRead = notesScopeRules.resources?.[listUri] ?? [];

  const about = {
    title: 'Notes',
    description: 'All notes of the account, newest first.',
    mimeType: 'application/json',
  };
  server.registerResource('notes', listUri, about, async (uri, context) => {
    const all = await notes.list(callerOf(context).subject, maxNotes);
    const text = JSON.stringify({ notes: all.map(showNote) });
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
  });

  const template = new ResourceTemplate('notes://{id}', { list: undefined });
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

  server.server.setRequestHandler('resources/list', async ({ params }, context) => {
    const { subject, scopes } = callerOf(context);
    const mayRead = missingScopes(scopes, scopesToRead).length === 0;
    const own = mayRead ? await notes.list(subject, maxNotes) : [];
    const resources = [
      { uri: listUri, name: 'notes', ...about },
      ...own.map((note) => ({ uri: `${listUri}${note.id}`, name: nameOf(note), mimeType: 'text/plain' })),
    ];
    const { items, ...rest } = paging.page(
      { name: 'resources/list', items: resources, keyOf: ({ uri }) => uri },
      { cursor: params?.cursor, pageSize, scope: subject },
    );
    return { resources: items, ...rest };
  });
}

/** The scopes of the notes server, each with the sentence the consent page shows. */
export const notesScopes: Record<'notes:read' | 'notes:write', string> = {
  'notes:read': 'Read and search your notes.',
  'notes:write': 'Add notes, and delete any of your notes.',
};

/** Scopes that the notes server's tools, prompt and resources need. */
export const notesScopeRules: ScopeRules = {
  tools: {
    add_note: ['notes:write'],
    search_notes: ['notes:read'],
    delete_note: ['notes:write'],
  },
  prompts: { summarize_notes: ['notes:read'] },
  resources: { 'notes://': ['notes:read'] },
};
