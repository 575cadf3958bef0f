import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { formatTools, registerTools, runTools } from '../../../../src/cli/commands/mcp-client/tools.ts';
import { startLoggedIn } from '../../support/client-commands.ts';

const tools = [
  {
    name: 'weather',
    description: 'Says the weather',
    inputSchema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' }, more: {} },
      required: ['city'],
    },
  },
  { name: 'now', inputSchema: { type: 'object' } },
];

describe('gatehouse tools', () => {
  it('prints name, description and arguments as a table', async () => {
    const { mcp, io, written } = await startLoggedIn({ tools });
    await runTools(mcp.url, {}, io);
    expect(written.stdout).toBe(
      [
        'NAME     DESCRIPTION       ARGUMENTS',
        'weather  Says the weather  city: string, days?: integer, more?: any',
        'now',
        '',
      ].join('\n'),
    );
  });

  it('prints them as JSON through the command line', async () => {
    const { mcp, io, written } = await startLoggedIn({ tools });
    const program = new Command();
    registerTools(program, io);
    await program.parseAsync(['node', 'gatehouse', 'tools', mcp.url, '--json']);
    expect(JSON.parse(written.stdout)).toMatchObject({ tools });
  });

  it('says which servers behind a gateway are missing, and why (C8-07)', async () => {
    const missing = [{ backend: 'notes', message: 'The MCP server All/notes\u0007 cannot be used yet.' }, 5];
    const { mcp, io, written } = await startLoggedIn({
      tools,
      listMeta: { 'mcp-gatehouse/unavailable': missing },
    });
    await runTools(mcp.url, {}, io);
    expect(written.stdout).toContain('weather');
    expect(written.stderr).toContain(
      'Not all tools are listed: The MCP server All/notes cannot be used yet.\n',
    );
    written.stdout = '';
    await runTools(mcp.url, { json: true }, io);
    expect(JSON.parse(written.stdout)).toEqual({ tools, _meta: { 'mcp-gatehouse/unavailable': missing } });
  });

  it('strips escape sequences from names, descriptions and arguments, and cuts long ones (T-190)', () => {
    const text = formatTools(
      [
        {
          name: 'a\u001b[31m\u202e',
          description: `one\ntwo\u001b]8;;https://evil\u0007 ${'x'.repeat(400)}`,
          inputSchema: { properties: { 'b\u001b[0m': { type: 'c\r' } } },
        },
      ],
      { paint: (_style, text) => text },
    );
    for (const bad of ['\u001b', '\u0007', '\u202e', '\r', 'evil']) expect(text).not.toContain(bad);
    expect(text.split('\n')[1]).toMatch(/^a {5}one two x+… {2}b\?: c$/);
  });
});
