import { McpServer, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { NoteStore } from '../../storage/storage.ts';
import { fromFactory } from '../sdk/server-factory.ts';
import type { ServerSource } from '../sdk/server-source.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools.ts';

/** Most array elements and object members of a tool's arguments together; ours have a handful (T-135). */
const maxToolInputElements = 100;

/** All revisions; a server that lists the newest answers all its callers without being made anew for each. */
const supportedProtocolVersions = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

/**
 * Creates the source of the server that ships: notes, each account its own. Who calls comes with each call, so one
 * server answers everybody.
 * @param notes if they are kept
 * @param now epoch seconds
 */
export function createNotesServer({
  notes,
  now,
}: {
  notes: NoteStore;
  now: () => number;
}): ServerSource & { sharing: 'shared' } {
  return fromFactory(() => {
    const server = new McpServer(
      { name: 'gatehouse-notes', title: 'Gatehouse notes', version: '0.1.0' },
      {
        maxToolInputElements,
        supportedProtocolVersions,
        instructions:
          'Keeps short notes for the account that is logged in. Notes are private to the account.',
      },
    );
    registerTools(server, notes, now);
    registerResources(server, notes);
    registerPrompts(server, notes);
    // Tools and prompts never change. Notes do, and one server answers all accounts: a change of one would be told to all,
    // so what is not sent is not announced (FA-34).
    server.server.registerCapabilities({ resources: { listChanged: false } });
    return server;
  }, 'shared');
}
