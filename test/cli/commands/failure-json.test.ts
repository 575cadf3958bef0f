import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CliError } from '../../../src/cli/cli-error.ts';
import { registerCall } from '../../../src/cli/commands/call.ts';
import { explainFailure } from '../../../src/cli/commands/client-failure.ts';
import { registerDoctor } from '../../../src/cli/commands/doctor.ts';
import { failureAsJson } from '../../../src/cli/commands/failure-json.ts';
import { registerLogin } from '../../../src/cli/commands/login.ts';
import { registerLogout } from '../../../src/cli/commands/logout.ts';
import { registerPrompts } from '../../../src/cli/commands/prompts.ts';
import { registerResources } from '../../../src/cli/commands/resources.ts';
import { registerTools } from '../../../src/cli/commands/tools.ts';
import { registerWhoami } from '../../../src/cli/commands/whoami.ts';
import type { CommandIo } from '../../../src/cli/output.ts';
import { ClientError } from '../../../src/client/index.ts';
import { startLoggedIn, testIo } from '../support/client-commands.ts';

const url = 'https://mcp.example/mcp';

const asJson = (error: unknown) => failureAsJson(explainFailure(error, url) as CliError);

describe('a failure as JSON', () => {
  const data = { reason: 'credential_missing', url: 'https://gate.example/account/credentials' };
  const answered = new ProtocolError(-32603, 'It cannot be used yet.\nOpen the page.', data);

  it('is what the server answered, as it is, also where the SDK wrapped it', () => {
    const expected = { code: -32603, message: 'It cannot be used yet.\nOpen the page.', data };
    expect(asJson(answered)).toEqual(expected);
    const outer = new SdkError(SdkErrorCode.EraNegotiationFailed, 'probe failed', {}, { cause: answered });
    expect(asJson(outer)).toEqual(expected);
    expect(asJson(new ProtocolError(-1, 'no'))).toEqual({ code: -1, message: 'no' });
  });

  it('is else a sentence with its reason and what to do, and nothing of what the SDK holds (T-191)', () => {
    expect(asJson(new ClientError('no_registration', 'x'))).toEqual({
      reason: 'no_registration',
      message: 'x',
      hint: 'To give a client id: --client-id <id>',
    });
    const held = new SdkError(SdkErrorCode.ConnectionClosed, 'closed', { authorization: 'canary' });
    expect(asJson(held)).toEqual({ message: 'The server cannot be used: closed' });
  });
});

const registers = [
  registerLogin,
  registerLogout,
  registerWhoami,
  registerTools,
  registerCall,
  registerResources,
  registerPrompts,
  registerDoctor,
];

async function run(io: CommandIo, ...words: string[]): Promise<void> {
  const program = new Command('gatehouse').exitOverride();
  program.configureOutput({ writeErr: (text) => io.stderr.write(text) });
  for (const register of registers) register(program, io);
  await program.parseAsync(['node', 'gatehouse', ...words]);
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
    await expect(run(io, command, mcp.url, ...words, '--json')).rejects.toMatchObject({ exitCode: 3 });
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
    await expect(run(io, 'call', mcp.url, 'echo', '--json')).rejects.toMatchObject({
      exitCode: 6,
      message: 'The server answered with an error: Method not found',
    });
    expect(JSON.parse(written.stdout)).toEqual({ error: { code: -32601, message: 'Method not found' } });
  });

  it('gatehouse login prints the reason of its failure, and what helps at that server', async () => {
    const { mcp, io, written } = await startLoggedIn();
    const elsewhere = new URL('/', mcp.url).href;
    await expect(run(io, 'login', elsewhere, '--no-browser', '--json')).rejects.toMatchObject({
      exitCode: 6,
    });
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
    await expect(run(io, ...words, '--json')).rejects.toThrow();
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
      await expect(run(io, ...all)).rejects.toMatchObject({ code: expect.stringMatching(/^commander\./) });
      expect(JSON.parse(written.stdout)).toEqual({ error: { message } });
      expect(written.stderr).toMatch(/^error: /);
    }
  });

  it('prints one document: what a tool that failed answered, and the logins that are none', async () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'no such city' }] };
    const { mcp, io, written } = await startLoggedIn({ call: () => failed });
    await expect(run(io, 'call', mcp.url, 'echo', '--json')).rejects.toMatchObject({ exitCode: 5 });
    expect(JSON.parse(written.stdout)).toMatchObject(failed);
    const none = testIo();
    await expect(run(none.io, 'whoami', '--json')).rejects.toMatchObject({ exitCode: 3 });
    expect(JSON.parse(none.written.stdout)).toEqual({ logins: [] });
  });
});

it('a failure is not on standard output where JSON is not asked for', async () => {
  for (const words of [
    ['call', url, 't', '{'],
    ['call', url],
  ]) {
    const { io, written } = testIo();
    await expect(run(io, ...words)).rejects.toThrow();
    expect(written.stdout).toBe('');
  }
});
