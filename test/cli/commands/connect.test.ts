import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runConnect } from '../../../src/cli/commands/connect.ts';
import { startLoggedIn, testIo } from '../support/client-commands.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
};

interface Answer {
  id: number;
  result?: object;
  error?: { message: string };
}

const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'a' } };

/** Runs the command for a host that only initializes, and may call; gives the last answer. */
async function initialized(
  url: string,
  options: Parameters<typeof runConnect>[1],
  io: ReturnType<typeof testIo>['io'],
  messages: { id: number }[] = [initialize],
) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const bridge = runConnect(url, options, { ...io, stdin, stdout });
  stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  await bridge.ended;
  const answers = String(stdout.read())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
  const answer = answers.find(({ id }) => id === messages.at(-1)?.id);
  if (!answer) throw new Error('there is no answer');
  return answer;
}

describe('gatehouse connect', () => {
  it('carries the login that is kept, and writes only what the server answers', async () => {
    const { mcp, io, written } = await startLoggedIn();
    expect(await initialized(mcp.url, {}, io)).toMatchObject({
      result: { serverInfo: { name: 'scripted' } },
    });
    expect(mcp.requests[0]?.headers.authorization).toBe('Bearer at');
    expect(written).toEqual({ stdout: '', stderr: '' });
  });

  it('says to the host which command logs in, where nobody may be asked', async () => {
    const { mcp } = await startLoggedIn();
    const { io } = testIo();
    const { error } = await initialized(mcp.url, { login: false }, io);
    expect(error?.message).toMatch(/^You are not logged in .*Run: .*gatehouse login http/);
  });

  it('says to a machine how that machine logs in, where its login has ended or allows too little', async () => {
    const machine = { workload: true, clientId: 'ci' } as const;
    const ended = await startLoggedIn({}, { ...machine, expiresAt: 1 });
    const { error } = await initialized(ended.mcp.url, { login: false }, ended.io);
    expect(error?.message).toMatch(
      /login \S+ --grant workload_identity --client-id ci --assertion-file <file>$/,
    );
    const limited = await startLoggedIn({}, machine);
    limited.mcp.needsScope = 'write';
    const refused = await initialized(limited.mcp.url, { login: false }, limited.io, [initialize, call]);
    expect(refused.error?.message).toMatch(
      /--scope 'read write' --grant workload_identity --client-id ci --assertion-file <file>$/,
    );
  });

  it('says the same where nobody can be asked: no browser, no terminal', async () => {
    const { mcp } = await startLoggedIn();
    const { io } = testIo({ env: { BROWSER: 'none' } });
    const { error } = await initialized(mcp.url, {}, io);
    expect(error?.message).toMatch(/^Nobody can log in here: .*Run: .*gatehouse login http/);
  });

  it('sends a given Authorization header in place of a login', async () => {
    const { mcp, as } = await startLoggedIn();
    as.accessTokens.add('given');
    const { io } = testIo({ env: { AUTH: 'Bearer given' } });
    const answer = await initialized(mcp.url, { header: ['Authorization: env:AUTH'] }, io);
    expect(answer.result).toBeDefined();
    expect(mcp.requests[0]?.headers.authorization).toBe('Bearer given');
  });

  it('refuses what is no URL', () => {
    const { io } = testIo();
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    expect(() => runConnect('ftp://x', {}, { ...io, ...streams })).toThrow(
      expect.objectContaining({ exitCode: 2 }),
    );
  });
});
