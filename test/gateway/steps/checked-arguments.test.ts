import { describe, expect, it, onTestFinished } from 'vitest';
import { ArgumentChecks } from '../../../src/gateway/steps/argument-checks.ts';
import { createCheckedArguments } from '../../../src/gateway/steps/checked-arguments.ts';
import { ToolDefinitions } from '../../../src/gateway/steps/tool-definitions.ts';
import { withMissingInput } from '../../../src/mcp/upstreams/upstream.ts';
import { stepped } from './support/stepped.ts';

const tools = [
  {
    name: 'echo',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  { name: 'odd', inputSchema: { $schema: 'urn:mine' } },
  { name: 'plain' },
  { name: 'hiding', inputSchema: { properties: { text: { enum: ['a\u200b\u001b[2Jb'] } } } },
];

function start(list = (): object => ({ result: { tools } })) {
  const checks = new ArgumentChecks();
  onTestFinished(() => checks.close());
  const warned: unknown[] = [];
  const step = createCheckedArguments({
    name: 'Notes',
    definitions: new ToolDefinitions(() => 0),
    checks,
    logger: { warn: (fields: unknown) => void warned.push(fields) },
  });
  const { talk, server } = stepped([step], {
    'tools/list': list,
    'tools/call': () => ({ result: { content: [] } }),
  });
  return { talk, server, warned };
}

describe('the arguments of a call', () => {
  it('that do not fit are an error of the tool, which says what to correct; the server never sees them', async () => {
    const { talk, server } = start();
    const { ask } = await talk();
    const { result } = await ask('tools/call', { name: 'echo', arguments: { text: 5 } });
    expect(result).toEqual({
      content: [
        { type: 'text', text: expect.stringMatching(/fit the input schema of echo.*text.*Correct them/) },
      ],
      isError: true,
    });
    expect((await ask('tools/call', { name: 'echo' })).result?.isError).toBe(true);
    expect(server.requests('tools/call')).toHaveLength(0);
  });

  it('that do not fit bring the model no characters nobody sees from the schema (FA-08, T-211)', async () => {
    const { ask } = await start().talk();
    const { result } = await ask('tools/call', { name: 'hiding', arguments: { text: 'c' } });
    const text = String((result?.content as { text: string }[] | undefined)?.[0]?.text);
    expect(text).toContain('does not match any of');
    expect(text).not.toMatch(/\p{Cf}|\p{Cc}/u);
  });

  it('of a call whose person has still to give what the list needs are not passed on unchecked (C7-04)', async () => {
    const missing = { name: 'key', key: 'key', message: 'It needs a key.', url: 'https://example.com' };
    const refused = { code: -32603, message: 'a key is missing' };
    const error = withMissingInput(refused, { ...missing, isGiven: async () => false });
    const { talk, server } = start(() => ({ error }));
    expect((await (await talk()).ask('tools/call', { name: 'echo' })).error).toEqual(refused);
    expect(server.requests('tools/call')).toHaveLength(0);
  });

  it('that fit reach the server, as do those of tools without a schema and of tools it does not list', async () => {
    const { talk, server } = start();
    const { ask } = await talk();
    for (const name of ['echo', 'plain', 'unlisted'])
      expect((await ask('tools/call', { name, arguments: { text: 'a' } })).result).toEqual({ content: [] });
    expect(server.requests('tools/call')).toHaveLength(3);
  });

  it('that cannot be checked are refused, and the log says which tool', async () => {
    const { talk, server, warned } = start();
    const { error } = await (await talk()).ask('tools/call', { name: 'odd', arguments: {} });
    expect(error).toMatchObject({ code: -32603, data: { reason: 'arguments_not_checked' } });
    expect(warned).toEqual([{ backend: 'Notes', tool: 'odd', reason: 'unusable' }]);
    expect(server.requests('tools/call')).toHaveLength(0);
  });
});
