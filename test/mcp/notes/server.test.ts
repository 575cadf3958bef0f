import type { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createNotesServer, notesScopeRules } from '../../../src/mcp/notes/server.ts';
import { startGate } from '../support/gate.ts';
import { createMemoryNotes } from '../support/note-store.ts';

describe.each(['legacy', 'modern'] as const)('the notes server, %s', (era) => {
  it('lists its tools with descriptions and hints for a careful client', async () => {
    const gate = await startGate();
    const { tools } = await (await gate.connect(gate.issue('ann'), era)).listTools();
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    expect(hints).toMatchObject({
      whoami: { readOnlyHint: true },
      add_note: { readOnlyHint: false, destructiveHint: false },
      search_notes: { readOnlyHint: true },
      delete_note: { destructiveHint: true },
    });
    for (const { description } of tools) expect(description?.length).toBeGreaterThan(20);
  });

  it('keeps, finds, shows and deletes a note', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'), era);
    const added = await client.callTool({ name: 'add_note', arguments: { text: 'Buy Milk' } });
    const { id } = added.structuredContent as { id: string };
    const found = await client.callTool({ name: 'search_notes', arguments: { query: 'milk' } });
    expect(found.structuredContent).toMatchObject({ notes: [{ id, text: 'Buy Milk' }] });
    expect(await client.readResource({ uri: `notes://${id}` })).toMatchObject({
      contents: [{ text: 'Buy Milk' }],
    });
    await client.callTool({ name: 'delete_note', arguments: { id } });
    const after = await client.callTool({ name: 'search_notes', arguments: { query: 'milk' } });
    expect(after.structuredContent).toEqual({ notes: [] });
  });
});

describe('the notes server', () => {
  it('is made for all callers, and speaks every revision, so that one answers them all', async () => {
    const source = createNotesServer({ notes: createMemoryNotes(), now: () => 0 });
    expect(source.sharing).toBe('shared');
    const server = (await source.create({ era: 'modern' })) as McpServer;
    const versions: string[] = [];
    await server.connect({
      start: async () => undefined,
      send: async () => undefined,
      close: async () => undefined,
      setSupportedProtocolVersions: (given) => void versions.push(...given),
    });
    expect(versions).toEqual([
      '2026-07-28',
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
      '2024-11-05',
      '2024-10-07',
    ]);
    await server.close();
  });

  it('refuses arguments with thousands of members before it looks at them (T-135)', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'));
    const members = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`member${at}`, at]));
    const result = await client.callTool({ name: 'whoami', arguments: members });
    expect(result.isError).toBe(true);
  });

  it('has scope rules for tools, prompts and resources that exist', async () => {
    const gate = await startGate();
    const client = await gate.connect(gate.issue('ann'));
    const tools = (await client.listTools()).tools.map(({ name }) => name);
    const prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
    expect(tools).toEqual(expect.arrayContaining(Object.keys(notesScopeRules.tools ?? {})));
    expect(prompts).toEqual(expect.arrayContaining(Object.keys(notesScopeRules.prompts ?? {})));
  });
});
