import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { registerCall, runCall } from '../../../../src/cli/commands/mcp-client/call.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

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

  it.each([
    ['ad_note', 'There is no tool ad_note. Did you mean add_note?'],
    ['frobnicate', 'There is no tool frobnicate. There are: add_note, whoami'],
  ])('names the tool that %s was meant for, or those there are (FA-30)', async (tool, hint) => {
    const tools = ['add_note', 'whoami'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    const refusing = await startLoggedIn({ tools });
    await expect(runCall({ url: refusing.mcp.url, tool }, {}, refusing.io)).rejects.toMatchObject({
      exitCode: 6,
      message: 'The server answered with an error: Method not found',
      hint,
    });
    const failing = await startLoggedIn({ tools, call: () => ({ isError: true, content: [] }) });
    await expect(runCall({ url: failing.mcp.url, tool }, {}, failing.io)).rejects.toMatchObject({
      exitCode: 5,
      hint,
    });
    const known = runCall({ url: failing.mcp.url, tool: 'whoami' }, {}, failing.io);
    await expect(known).rejects.toMatchObject({ exitCode: 5, hint: undefined });
  });

  it('ends after --max-time although the server tells of progress without end (FA-30)', async () => {
    const { mcp, io } = await startLoggedIn({ tools: [] });
    const plain = mcp.routes['POST /mcp'];
    if (typeof plain !== 'function') throw new Error('no route');
    mcp.routes['POST /mcp'] = (request) => {
      const message = JSON.parse(request.body) as {
        method: string;
        params?: { _meta?: { progressToken?: unknown } };
      };
      if (message.method !== 'tools/call') return plain(request);
      const progressToken = message.params?._meta?.progressToken;
      return {
        raw: (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          let progress = 0;
          const timer = setInterval(() => {
            const params = { progressToken, progress: progress++ };
            response.write(
              `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`,
            );
          }, 20);
          response.once('close', () => clearInterval(timer));
        },
      };
    };
    await expect(
      runCall({ url: mcp.url, tool: 'slow' }, { timeout: 10, maxTime: 0.3 }, io),
    ).rejects.toMatchObject({
      exitCode: 6,
      message: 'The call did not end within 0.3 s.',
      hint: 'To wait longer: --max-time <seconds>',
    });
  });

  it.each(['http', 'sse'] as const)(
    'says which revisions there are if a server over %s speaks none of ours (FA-30)',
    async (transport) => {
      const { mcp, io } = await startLoggedIn();
      const plain = mcp.routes['POST /mcp'];
      if (typeof plain !== 'function') throw new Error('no route');
      const initialize = (body: string) => {
        const { id } = JSON.parse(body) as { id: unknown };
        const result = {
          protocolVersion: '1999-01-01',
          capabilities: {},
          serverInfo: { name: 'old', version: '1' },
        };
        return { jsonrpc: '2.0', id, result };
      };
      let write: (text: string) => void = () => undefined;
      mcp.routes['POST /mcp'] = (request) => {
        if (!request.body.includes('"initialize"')) return plain(request);
        if (transport === 'http') return { json: initialize(request.body) };
        write(`event: message\ndata: ${JSON.stringify(initialize(request.body))}\n\n`);
        return { status: 202, text: '' };
      };
      if (transport === 'sse')
        mcp.routes['GET /mcp'] = {
          raw: (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            write = (text) => void response.write(text);
            write('event: endpoint\ndata: /mcp\n\n');
          },
        };
      await expect(runCall({ url: mcp.url, tool: 'x' }, { transport }, io)).rejects.toMatchObject({
        exitCode: 6,
        message: expect.stringMatching(
          /the server speaks only 1999-01-01 of MCP, and this client 2026-07-28, .*\. One of the two has to be updated\./,
        ),
      });
    },
  );

  it('never writes the token out (T-191)', async () => {
    const { as, mcp, io, written } = await startLoggedIn({ call: echo });
    as.accessTokens.clear();
    const error = await runCall({ url: mcp.url, tool: 'echo' }, {}, io).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 3 });
    expect(JSON.stringify([String(error), written])).not.toMatch(/\bat\b|Bearer/);
  });
});
