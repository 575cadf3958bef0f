import { z } from 'zod';
import type { Note } from '../../storage/storage.ts';

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
