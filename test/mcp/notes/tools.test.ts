import { describe, expect, it } from 'vitest';
import { createNotesServer } from '../../../src/mcp/notes/server.ts';
import { maxNotes, maxTextLength } from '../../../src/mcp/notes/tools.ts';
import { startGate } from '../support/gate.ts';
import { createMemoryNotes } from '../support/note-store.ts';

describe('whoami', () => {
  it('needs no scope and says who calls, for whom, with what and until when', async () => {
    const gate = await startGate();
    const token = gate.issue('ann', { scopes: [], clientId: 'https://app.example/client' });
    const client = await gate.connect(token);
    expect((await client.callTool({ name: 'whoami', arguments: {} })).structuredContent).toEqual({
      account: 'ann',
      client: 'https://app.example/client',
      scopes: [],
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
  });
});

describe('notes', () => {
  it('of one account are out of reach for another, by any tool', async () => {
    const gate = await startGate();
    const [ann, bob] = [await gate.connect(gate.issue('ann')), await gate.connect(gate.issue('bob'))];
    const added = await ann.callTool({ name: 'add_note', arguments: { text: 'secret of ann' } });
    const { id } = added.structuredContent as { id: string };
    const found = await bob.callTool({ name: 'search_notes', arguments: { query: '' } });
    expect(found.structuredContent).toEqual({ notes: [] });
    const removed = await bob.callTool({ name: 'delete_note', arguments: { id } });
    expect(removed).toMatchObject({ isError: true });
    const kept = await ann.callTool({ name: 'search_notes', arguments: { query: 'SECRET' } });
    expect(kept.structuredContent).toMatchObject({ notes: [{ id, text: 'secret of ann' }] });
  });

  it.each<[string, string, boolean]>([
    ['empty', '', false],
    ['as long as allowed', 'x'.repeat(maxTextLength), true],
    ['longer', 'x'.repeat(maxTextLength + 1), false],
    ['with a NUL', 'a\0b', false],
    ['with markup and SQL', `<script>'; DROP TABLE notes; --`, true],
  ])('%s: kept is %j', async (_what, text, kept) => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'));
    const result = await client.callTool({ name: 'add_note', arguments: { text } });
    expect(result.isError ?? false).toBe(!kept);
    const found = await client.callTool({ name: 'search_notes', arguments: { query: '' } });
    expect((found.structuredContent as { notes: { text: string }[] }).notes.map((note) => note.text)).toEqual(
      kept ? [text] : [],
    );
  });

  it('are at most 1,000 an account; the next one is refused with what to do', async () => {
    const notes = createMemoryNotes();
    for (let count = 0; count < maxNotes; count++) await notes.add('ann', 'x', 0);
    const gate = await startGate({ source: createNotesServer({ notes, now: () => 0 }) });
    const add = async (subject: string) =>
      (await gate.connect(gate.issue(subject))).callTool({ name: 'add_note', arguments: { text: 'y' } });
    expect(await add('ann')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Delete one') }],
    });
    expect((await add('bob')).isError ?? false).toBe(false);
  });

  it('come newest first, 20 unless more are asked for, 100 at most', async () => {
    const notes = createMemoryNotes();
    for (let count = 1; count <= 150; count++) await notes.add('ann', `note ${count}`, count);
    const gate = await startGate({ source: createNotesServer({ notes, now: () => 0 }) });
    const client = await gate.connect(gate.issue('ann'));
    const search = async (limit?: number) => {
      const result = await client.callTool({
        name: 'search_notes',
        arguments: { query: 'note', ...(limit === undefined ? {} : { limit }) },
      });
      return result.isError ? undefined : (result.structuredContent as { notes: { text: string }[] }).notes;
    };
    expect((await search())?.length).toBe(20);
    expect((await search(100))?.[0]?.text).toBe('note 150');
    expect([await search(101), await search(0)]).toEqual([undefined, undefined]);
  });
});
