import { expect, it } from 'vitest';
import { createReadOnly } from '../../../src/gateway/steps/read-only.ts';
import { ToolDefinitions } from '../../../src/gateway/steps/tool-definitions.ts';
import { stepped } from './support/stepped.ts';

const tools = [
  { name: 'read', annotations: { readOnlyHint: true } },
  { name: 'write', annotations: { readOnlyHint: false } },
  { name: 'silent' },
  { name: 'odd', annotations: { readOnlyHint: 'true' } },
  { name: 'null', annotations: null },
];

it('in read-only mode there are the tools alone of which the server says that they change nothing', async () => {
  const { talk, server } = stepped([createReadOnly(new ToolDefinitions(() => 0))], {
    'tools/list': () => ({ result: { tools, nextCursor: undefined } }),
    'tools/call': () => ({ result: { content: [] } }),
  });
  const { ask } = await talk();
  expect((await ask('tools/list')).result?.tools).toEqual([tools[0]]);
  expect((await ask('tools/call', { name: 'read' })).result).toBeDefined();
  for (const name of ['write', 'silent', 'odd', 'null', 'unlisted'])
    expect((await ask('tools/call', { name })).error?.message).toBe(`Tool ${name} not found`);
  expect(server.requests('tools/call')).toHaveLength(1);
});

const missing = { code: -32603, message: 'A key is missing.', data: { reason: 'credential_missing' } };

it.each([
  ['an error', { error: missing }, missing],
  [
    'no list',
    { result: { tools: 'many' } },
    { code: -32603, message: 'The MCP server gives no list of its tools.' },
  ],
])(
  'where the server answers with %s when it is asked for its tools, a call is told so, and not that there is no such tool',
  async (_what, list, expected) => {
    const { talk, server } = stepped([createReadOnly(new ToolDefinitions(() => 0))], {
      'tools/list': () => list,
    });
    const { error } = await (await talk()).ask('tools/call', { name: 'read' });
    expect(error).toEqual(expected);
    expect(server.requests('tools/call')).toHaveLength(0);
  },
);
