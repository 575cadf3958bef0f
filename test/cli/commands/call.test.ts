import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { registerCall, runCall } from '../../../src/cli/commands/call.ts';
import { startLoggedIn, testIo } from '../support/client-commands.ts';

const echo = ({ name, arguments: args }: Record<string, unknown>) => ({
  content: [{ type: 'text', text: `${String(name)} ${JSON.stringify(args)}` }],
});

describe('gatehouse call', () => {
  it('prints the text of the result', async () => {
    const { mcp, io, written } = await startLoggedIn({ call: echo });
    await runCall({ url: mcp.url, tool: 'echo', args: ['{"a":1}'] }, {}, io);
    await runCall({ url: mcp.url, tool: 'echo' }, {}, io);
    expect(written.stdout).toBe('echo {"a":1}\necho {}\n');
  });

  it('prints the whole result as JSON through the command line', async () => {
    const { mcp, io, written } = await startLoggedIn({ call: echo });
    const program = new Command();
    registerCall(program, io);
    await program.parseAsync(['node', 'gatehouse', 'call', mcp.url, 'echo', '{"a":"\\u202e"}', '--json']);
    expect(JSON.parse(written.stdout)).toMatchObject(echo({ name: 'echo', arguments: { a: '\u202e' } }));
    expect(written.stdout).not.toContain('\u202e');
  });

  it.each(['{', '[]', '"x"', 'null', '7'])(
    'refuses the arguments %s before it sends anything',
    async (json) => {
      const { mcp, io } = await startLoggedIn({ call: echo });
      await expect(runCall({ url: mcp.url, tool: 'echo', args: [json] }, {}, io)).rejects.toMatchObject({
        exitCode: 2,
      });
      expect(mcp.requests).toEqual([]);
    },
  );

  it('ends with exit code 5 where the tool fails, after printing what it said', async () => {
    const { mcp, io, written } = await startLoggedIn({
      call: () => ({ isError: true, content: [{ type: 'text', text: 'no such city' }] }),
    });
    await expect(runCall({ url: mcp.url, tool: 't\u001b[1m' }, {}, io)).rejects.toMatchObject({
      exitCode: 5,
      message: 'The tool t answered with an error.',
    });
    expect(written.stdout).toBe('no such city\n');
  });

  it('ends with exit code 4 where a scope is missing, naming it and the login with all scopes (A8-07)', async () => {
    const { mcp, io } = await startLoggedIn({ call: echo });
    mcp.needsScope = 'write admin';
    await expect(runCall({ url: mcp.url, tool: 'echo' }, {}, io)).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('write admin'),
      hint: expect.stringMatching(/gatehouse login .* --scope 'read write admin'$/),
    });
  });

  it('ends with exit code 3 where there is no login', async () => {
    const { mcp } = await startLoggedIn();
    const { io } = testIo();
    await expect(runCall({ url: mcp.url, tool: 'echo' }, {}, io)).rejects.toMatchObject({ exitCode: 3 });
  });

  it('never writes the token out (T-191)', async () => {
    const { as, mcp, io, written } = await startLoggedIn({ call: echo });
    as.accessTokens.clear();
    const error = await runCall({ url: mcp.url, tool: 'echo' }, {}, io).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 3 });
    expect(JSON.stringify([String(error), written])).not.toMatch(/\bat\b|Bearer/);
  });
});
