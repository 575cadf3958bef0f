import { describe, expect, it } from 'vitest';
import { createCleaning } from '../../../src/gateway/steps/cleaning.ts';
import { stepped } from './support/stepped.ts';

const esc = '\u001b[31m';
const told: unknown[] = [];
const step = () => createCleaning('Notes', { warn: (fields: unknown) => void told.push(fields) });

const answers = {
  initialize: () => ({
    result: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 'raw', version: '1', title: `R${esc}aw` },
      instructions: `Use${esc} it.`,
    },
  }),
  'tools/list': () => ({
    result: {
      tools: [
        { name: 'read', description: `Reads${esc}.` },
        { name: 're\u200bad', description: 'Looks like the other.' },
        { name: 'write', inputSchema: { type: 'object', properties: { 'a\u202e': {} } } },
      ],
    },
  }),
  'prompts/list': () => ({
    result: {
      prompts: [
        { name: 'a', arguments: [{ name: 'b\u0007' }] },
        { name: 'c', description: `d${esc}` },
      ],
    },
  }),
  'resources/list': () => ({
    result: {
      resources: [
        { uri: 'a:\u200b', name: 'a' },
        { uri: 'b:', name: 'b', title: `t${esc}` },
      ],
    },
  }),
  'tools/call': () => ({ result: { content: [{ type: 'text', text: esc }] } }),
};

describe('what a server says of what it offers', () => {
  it('is clean, and what has a name that is not is left out and told in the log (T-160)', async () => {
    const { talk } = stepped([step()], answers, 'each');
    const { ask, result } = await talk();
    expect(result).toMatchObject({ serverInfo: { title: 'Raw' }, instructions: 'Use it.' });
    expect((await ask('tools/list')).result).toEqual({ tools: [{ name: 'read', description: 'Reads.' }] });
    expect((await ask('prompts/list')).result).toEqual({ prompts: [{ name: 'c', description: 'd' }] });
    expect((await ask('resources/list')).result).toEqual({
      resources: [{ uri: 'b:', name: 'b', title: 't' }],
    });
    expect(told).toContainEqual({ backend: 'Notes', kind: 'tool', name: 're\u{fffd}ad' });
  });

  it('names nothing that cannot be seen: using such a name finds nothing; results of tools stay as they are', async () => {
    const { talk, server } = stepped([step()], answers, 'each');
    const { ask } = await talk();
    expect((await ask('tools/call', { name: 're\u200bad' })).error?.code).toBe(-32602);
    expect((await ask('tools/call', { name: 'read' })).result?.content).toEqual([
      { type: 'text', text: esc },
    ]);
    expect(server.requests('tools/call')).toHaveLength(1);
  });
});
