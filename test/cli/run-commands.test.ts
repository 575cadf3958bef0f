import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { registerDoctor } from '../../src/cli/commands/doctor/doctor.ts';
import { registerCall } from '../../src/cli/commands/mcp-client/call.ts';
import { registerLogin } from '../../src/cli/commands/mcp-client/login.ts';
import { registerLogout } from '../../src/cli/commands/mcp-client/logout.ts';
import { registerPrompts } from '../../src/cli/commands/mcp-client/prompts.ts';
import { registerResources } from '../../src/cli/commands/mcp-client/resources.ts';
import { registerTools } from '../../src/cli/commands/mcp-client/tools.ts';
import { registerWhoami } from '../../src/cli/commands/mcp-client/whoami.ts';
import { registerAccount } from '../../src/cli/commands/operator/account.ts';
import { registerBackup } from '../../src/cli/commands/operator/backup.ts';
import { registerClient } from '../../src/cli/commands/operator/client.ts';
import { registerServe } from '../../src/cli/commands/server/serve.ts';
import type { CommandIo } from '../../src/cli/output.ts';
import { runCommands } from '../../src/cli/run-commands.ts';
import { startLoggedIn, testIo } from './support/client-commands.ts';

const url = 'https://mcp.example/mcp';

const registers = [
  registerLogin,
  registerLogout,
  registerWhoami,
  registerTools,
  registerCall,
  registerResources,
  registerPrompts,
  registerDoctor,
  registerAccount,
  registerBackup,
  registerClient,
  registerServe,
];

function run(io: CommandIo, ...words: string[]): Promise<number> {
  const program = new Command('gatehouse').exitOverride();
  program.configureOutput({ writeErr: (text) => io.stderr.write(text) });
  return runCommands(program, registers, ['node', 'gatehouse', ...words], io);
}

describe('with --json', () => {
  it.each([
    ['tools', []],
    ['call', ['echo']],
    ['resources', []],
    ['prompts', ['p']],
  ])('gatehouse %s prints that a login is needed, and no token (T-191)', async (command, words) => {
    const { as, mcp, io, written } = await startLoggedIn();
    as.accessTokens.clear();
    expect(await run(io, command, mcp.url, ...words, '--json')).toBe(3);
    expect(JSON.parse(written.stdout)).toEqual({
      error: {
        reason: 'login_required',
        message: expect.any(String),
        hint: expect.stringContaining(`login ${mcp.url}`),
      },
    });
    expect(written.stdout).not.toMatch(/\bat\b|Bearer/);
  });

  it('gatehouse call prints the error of the server, which stands on standard error as a sentence', async () => {
    const { mcp, io, written } = await startLoggedIn();
    expect(await run(io, 'call', mcp.url, 'echo', '--json')).toBe(6);
    expect(written.stderr).toContain('The server answered with an error: Method not found');
    expect(JSON.parse(written.stdout)).toEqual({ error: { code: -32601, message: 'Method not found' } });
  });

  it('gatehouse login prints the reason of its failure, and what helps at that server', async () => {
    const { mcp, io, written } = await startLoggedIn();
    const elsewhere = new URL('/', mcp.url).href;
    expect(await run(io, 'login', elsewhere, '--no-browser', '--json')).toBe(6);
    expect(JSON.parse(written.stdout)).toEqual({
      error: {
        reason: 'not_protected',
        message: expect.any(String),
        hint: expect.stringContaining(`Did you mean ${mcp.url}?`),
      },
    });
  });

  it.each([
    ['JSON that is none', ['call', url, 't', '{'], 'The arguments are not JSON.'],
    ['a value that is no JSON', ['call', url, 't', 'a:=x'], 'The value of a is not JSON.'],
    ['a prompt with a number', ['prompts', url, 'p', 'a:=1'], 'Arguments of prompts are texts; "a" is none.'],
    ['a use that makes no sense', ['resources', url, '--output', 'x'], '--output needs a resource to read.'],
    ['a URL that is none', ['login', 'nothing'], expect.stringMatching(/URL/)],
    ['no login', ['whoami', url], 'You are not logged in to this server.'],
    ['no server', ['logout'], 'Name the server to log out of, or --all, and not both.'],
    ['nothing to examine', ['doctor'], 'Give the URL of an MCP server.'],
  ])('prints a fault in what was asked for: %s', async (_fault, words, message) => {
    const { io, written } = testIo();
    expect([2, 3]).toContain(await run(io, ...words, '--json'));
    expect(JSON.parse(written.stdout)).toEqual({ error: expect.objectContaining({ message }) });
  });

  it.each([
    [['call', url], "missing required argument 'tool'"],
    [['tools', url, '--transport', 'pigeon'], expect.stringMatching(/^option '--transport <name>'.*pigeon/)],
    [['prompts', url, '--timeout', 'x'], expect.stringMatching(/^option '--timeout.*a number of seconds/)],
    [['login', url, '--callback-port', '0'], expect.stringMatching(/from 1 to 65535/)],
    [['whoami', '--chek'], "unknown option '--chek'\n(Did you mean --check?)"],
  ])('prints that it does not understand %j, also where --json comes after it', async (words, message) => {
    for (const all of [
      [...words, '--json'],
      [words[0] ?? '', '--json', ...words.slice(1)],
    ]) {
      const { io, written } = testIo();
      expect(await run(io, ...all)).toBe(2);
      expect(JSON.parse(written.stdout)).toEqual({ error: { reason: 'wrong_usage', message } });
      expect(written.stderr).toMatch(/^error: /);
    }
  });

  it('prints one document: what a tool that failed answered, and the logins that are none', async () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'no such city' }] };
    const { mcp, io, written } = await startLoggedIn({ call: () => failed });
    expect(await run(io, 'call', mcp.url, 'echo', '--json')).toBe(5);
    expect(JSON.parse(written.stdout)).toMatchObject(failed);
    const none = testIo();
    expect(await run(none.io, 'whoami', '--json')).toBe(3);
    expect(JSON.parse(none.written.stdout)).toEqual({ logins: [] });
  });
});

describe('a command of an operator with --json', () => {
  const nowhere = '/nonexistent/gatehouse';

  it.each([
    ['account', ['list', '--data', nowhere], 7, 'no_database'],
    ['backup', ['/nonexistent/backup', '--data', nowhere], 7, 'no_database'],
    ['serve', ['--config', `${nowhere}.json`], 2, 'settings_refused'],
    ['client', ['add'], 2, 'wrong_usage'],
    ['client', [], 2, 'wrong_usage'],
  ] as const)('prints why it fails: %s %j', async (command, words, exitCode, reason) => {
    const { io, written } = testIo();
    expect(await run(io, command, ...words, '--json')).toBe(exitCode);
    const { error } = JSON.parse(written.stdout);
    expect(error).toMatchObject({ reason, message: expect.stringMatching(/./) });
    expect(written.stderr).not.toBe('');
  });

  it('names what is not there, is there already, or will not do', async () => {
    const data = testIo().home;
    const account = async (input: string, ...words: string[]) => {
      const { io, written } = testIo({ input });
      const exitCode = await run(io, 'account', ...words, '--data', data, '--json');
      return [exitCode, JSON.parse(written.stdout).error?.reason];
    };
    const add = ['add', 'ada@example.com', '--password-stdin'];
    expect(await account('a long enough password\n', ...add)).toEqual([0, undefined]);
    expect(await account('a long enough password\n', ...add)).toEqual([2, 'already_exists']);
    expect(await account('short\n', 'add', 'eve@example.com', '--password-stdin')).toEqual([2, 'invalid']);
    expect(await account('', 'disable', 'bob@example.com')).toEqual([2, 'not_found']);
  });
});

it('a failure is not on standard output where JSON is not asked for', async () => {
  for (const words of [
    ['call', url, 't', '{'],
    ['call', url],
  ]) {
    const { io, written } = testIo();
    expect(await run(io, ...words)).toBe(2);
    expect(written.stdout).toBe('');
  }
});
