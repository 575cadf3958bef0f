import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  formatMessages,
  registerPrompts,
  runPrompts,
} from '../../../../src/cli/commands/mcp-client/prompts.ts';
import { echoServer, startSessionServer } from '../../../client/support/sdk-servers.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

function promptServer() {
  return startSessionServer(() => {
    const made = echoServer();
    made.registerPrompt(
      'greet',
      { description: 'Says hello', argsSchema: { name: z.string(), mood: z.string().optional() } },
      ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${name}` } }] }),
    );
    return made;
  });
}

describe('gatehouse prompts', () => {
  it('lists them as a table, and as one JSON object', async () => {
    const { url } = await promptServer();
    const { io, written } = testIo();
    await runPrompts({ url }, {}, io);
    expect(written.stdout).toBe('NAME   DESCRIPTION  ARGUMENTS\ngreet  Says hello   name, mood?\n');
    written.stdout = '';
    await runPrompts({ url }, { json: true }, io);
    expect(JSON.parse(written.stdout)).toMatchObject({ prompts: [{ name: 'greet' }] });
  });

  it('gets one with its arguments, through the command line', async () => {
    const { url } = await promptServer();
    const { io, written } = testIo();
    const program = new Command();
    registerPrompts(program, io);
    await program.parseAsync(['node', 'gatehouse', 'prompts', url, 'greet', 'name=Ada']);
    expect(written.stdout).toBe('user:\nHello, Ada\n');
  });

  it('refuses arguments that are no texts before it sends anything', async () => {
    const { io } = testIo();
    const target = { url: 'http://127.0.0.1:1/mcp', name: 'greet', args: ['name:=1'] };
    await expect(runPrompts(target, {}, io)).rejects.toMatchObject({ exitCode: 2 });
  });

  it('says that there are none, and prints nothing else', async () => {
    const { mcp, io, written } = await startLoggedIn();
    await runPrompts({ url: mcp.url }, {}, io);
    expect(written).toEqual({ stdout: '', stderr: 'The server has no prompts.\n' });
  });
});

describe('the messages of a prompt', () => {
  it('stand under their roles, without what a terminal could act on (T-190)', () => {
    const text = formatMessages(
      [
        { role: 'user', content: { type: 'text', text: 'a\u001b[2J' } },
        { role: 'assistant', content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
      ],
      (_style, shown) => shown,
    );
    expect(text).toBe('user:\na\n\nassistant:\n[image image/png 3 bytes]\n');
  });
});
