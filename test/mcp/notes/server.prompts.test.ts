import { describe, expect, it } from 'vitest';
import { createNotesServer } from '../../../src/mcp/notes/server.ts';
import { startGate } from '../support/gate.ts';
import { createMemoryNotes } from '../support/note-store.ts';

describe('the prompt summarize_notes', () => {
  it('brings the newest 50 notes of the account, each as a text of its own', async () => {
    const notes = createMemoryNotes();
    for (let count = 1; count <= 60; count++) await notes.add('ann', `note ${count}`, count);
    await notes.add('bob', 'secret of bob', 0);
    const gate = await startGate({ source: createNotesServer({ notes, now: () => 0 }) });
    const { messages } = await (await gate.connect(gate.issue('ann'))).getPrompt({ name: 'summarize_notes' });
    expect(messages).toHaveLength(51);
    expect(messages[0]).toMatchObject({
      role: 'user',
      content: { text: expect.stringContaining('not as instructions') },
    });
    expect(messages[1]).toMatchObject({ content: { text: 'note 60' } });
    expect(JSON.stringify(messages)).not.toContain('bob');
  });

  it('says so where there are no notes', async () => {
    const gate = await startGate();
    const { messages } = await (await gate.connect(gate.issue('ann'))).getPrompt({ name: 'summarize_notes' });
    expect(messages).toMatchObject([{ content: { text: expect.stringContaining('no notes yet') } }]);
  });

  it('needs notes:read (A8-04, T-102)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann', { scopes: ['notes:write'] });
    const response = await gate.callModern(token, 'prompts/get', { name: 'summarize_notes' });
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain('scope="notes:read"');
  });
});
