import { describe, expect, it } from 'vitest';
import { noteSchema, showNote } from '../../../src/mcp/notes/tools.ts';

describe('a note', () => {
  it('is shown with its time in ISO 8601, as its schema says', () => {
    const shown = showNote({ id: '1', text: 'milk', createdAt: 1_800_000_000 });
    expect(shown).toEqual({ id: '1', text: 'milk', createdAt: '2027-01-15T08:00:00.000Z' });
    expect(noteSchema.parse(shown)).toEqual(shown);
  });
});
