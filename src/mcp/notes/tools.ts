import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Note, NoteStore } from '../../storage/storage.ts';
import { callerOf } from '../sdk/caller.ts';

/** Longest note, in characters. */
export const maxTextLength = 10_000;

/** Most notes of an account. */
export const maxNotes = 1000;

const textSchema = z
  .string()
  .min(1)
  .max(maxTextLength)
  .refine((text) => !text.includes('\0'), 'The text may not hold NUL characters.')
  .describe(`text of the note, at most ${maxTextLength} characters`);

function answer(structuredContent: Record<string, unknown>): CallToolResult {
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

function failure(sentence: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: sentence }] };
}

/**
 * Registers the tools. Each works on the notes of the account that calls, and on no others.
 * @param now epoch seconds
 */
export function registerTools(server: McpServer, notes: NoteStore, now: () => number): void {
  server.registerTool(
    'whoami',
    {
      title: 'Who am I',
      description:
        'Says which account and client this connection acts for, its scopes, and when its access ends. E-mail address and names are told if they are known.',
      inputSchema: z.object({}),
      outputSchema: z.object({
        account: z.string(),
        email: z.string().optional(),
        name: z.string().optional(),
        client: z.string(),
        clientName: z.string().optional(),
        scopes: z.array(z.string()),
        expiresAt: z.string().describe('end of the access token, ISO 8601'),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (_input, context) => {
      const { subject, email, displayName, clientId, client, scopes, expiresAt } = callerOf(context);
      return answer({
        account: subject,
        ...(email !== undefined && { email }),
        ...(displayName !== undefined && { name: displayName }),
        client: clientId,
        ...(client?.name !== undefined && { clientName: client.name }),
        scopes: [...scopes],
        expiresAt: new Date(expiresAt * 1000).toISOString(),
      });
    },
  );

  server.registerTool(
    'add_note',
    {
      title: 'Add a note',
      description: 'Keeps a note for the account. Use it for what the user asks to remember.',
      inputSchema: z.object({ text: textSchema }),
      outputSchema: noteSchema,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ text }, context) => {
      const { subject } = callerOf(context);
      const kept = await notes.list(subject, maxNotes);
      if (kept.length >= maxNotes)
        return failure(
          `This account has ${maxNotes} notes, which is the most it may have. Delete one first.`,
        );
      return answer(showNote(await notes.add(subject, text, now())));
    },
  );

  server.registerTool(
    'search_notes',
    {
      title: 'Search notes',
      description: 'Finds notes of the account that hold a text, newest first. An empty query finds all.',
      inputSchema: z.object({
        query: z.string().max(maxTextLength).describe('text to look for; upper and lower case are alike'),
        limit: z.int().min(1).max(100).default(20).describe('most notes to give back'),
      }),
      outputSchema: z.object({ notes: z.array(noteSchema) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ query, limit }, context) => {
      const found = await notes.search(callerOf(context).subject, query, limit);
      return answer({ notes: found.map(showNote) });
    },
  );

  server.registerTool(
    'delete_note',
    {
      title: 'Delete a note',
      description: 'Deletes one note of the account for good. Ask the user before.',
      inputSchema: z.object({ id: z.string().max(100).describe('id of the note, as search_notes gives it') }),
      outputSchema: z.object({ deleted: z.string().describe('id of the deleted note') }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ id }, context) => {
      const removed = await notes.remove(callerOf(context).subject, id);
      return removed
        ? answer({ deleted: id })
        : failure('This account has no note with that id. Use search_notes to find the id.');
    },
  );
}

/** A note as tools and resources show it. */
export const noteSchema = z.object({
  id: z.string().describe('id of the note, for delete_note'),
  text: z.string(),
  createdAt: z.string().describe('when it was added, ISO 8601'),
});

/** Returns a note as tools and resources show it. */
export function showNote({ id, text, createdAt }: Note): z.infer<typeof noteSchema> {
  return { id, text, createdAt: new Date(createdAt * 1000).toISOString() };
}
