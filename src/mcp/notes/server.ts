import { McpServer } from '@modelcontextprotocol/server';
import type { NoteStore } from '../../storage/notes.ts';
import type { McpServerSource } from '../server-source.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools.ts';

/** Most array elements and object members of a tool's arguments together; ours have a handful (T-135). */
const maxToolInputElements = 100;

/**
 * Creates the source of the server that ships: notes, each account its own.
 * @param notes where they are kept
 * @param now epoch seconds
 */
export function createNotesServer({ notes, now }: { notes: NoteStore; now: () => number }): McpServerSource {
  return () => {
    const server = new McpServer(
      { name: 'gatehouse-notes', title: 'Gatehouse notes', version: '0.1.0' },
      {
        maxToolInputElements,
        instructions:
          'Keeps short notes for the account that is logged in. Notes are private to the account.',
      },
    );
    registerTools(server, notes, now);
    registerResources(server, notes);
    registerPrompts(server, notes);
    return server;
  };
}
