import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runConnect } from '../../../../src/cli/commands/mcp-client/connect.ts';
import { createDpopKey } from '../../../../src/client/dpop/dpop-key.ts';
import { startOfTime } from '../../../client/support/context.ts';
import { startAuthorizationServer } from '../../../client/support/protected-server.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

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

/** A person with a login bound to a key, made without `resource`, whose renewal is refused; who opens what is printed. */
async function startEnded(expiresAt: number) {
  const choices = { dpopKey: await createDpopKey(), withoutResource: true } as const;
  const set = await startLoggedIn({}, { ...choices, refreshToken: 'rt', expiresAt });
  const { as, io } = set;
  as.accessTokens.clear();
  const token = as.routes['POST /token'];
  as.routes['POST /token'] = (request) => {
    const answer = typeof token === 'function' ? token(request) : {};
    const kind = request.headers.dpop === undefined ? 'Bearer' : 'DPoP';
    return { ...answer, json: { ...Object(answer.json), token_type: kind } };
  };
  const { write } = io.stderr;
  io.stderr.write = (text) => {
    write(text);
    const url = /^Open this URL: (.*)$/m.exec(text)?.[1];
    if (url) void fetch(url);
  };
  return set;
}

describe('gatehouse connect', () => {
  it.each([
    ['before it was sent', 1],
    ['when the server had rejected it', startOfTime + 3600],
  ])(
    'logs in anew as the person had chosen, where a renewal is refused %s: with a key, without resource (A13-11)',
    async (_, expiresAt) => {
      const { as, mcp, store, io } = await startEnded(expiresAt);
      expect((await initialized(mcp.url, { browser: false }, io)).result).toBeDefined();
      const asked = as.requests.findLast(({ path }) => path === '/authorize')?.query;
      expect(asked?.get('dpop_jkt')).toMatch(/^.{43}$/);
      expect(asked?.has('resource')).toBe(false);
      expect(await store.findCredential(mcp.url)).toMatchObject({
        dpopKey: { alg: 'ES256' },
        withoutResource: true,
      });
    },
  );

  it('tells another authorization server the resource, whose name it has not refused, and asks it for no key it may not know (A7-01, T-184)', async () => {
    const { mcp, io } = await startEnded(1);
    const second = await startAuthorizationServer();
    mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
      json: { resource: mcp.url, authorization_servers: [second.origin] },
    };
    const post = mcp.routes['POST /mcp'];
    mcp.routes['POST /mcp'] = (request) => {
      const sent = String(request.headers.authorization ?? '').replace(/^Bearer /, '');
      if (!second.accessTokens.has(sent)) return typeof post === 'function' ? post(request) : {};
      const { id } = JSON.parse(request.body) as { id?: number };
      return id === undefined
        ? { status: 202, text: '' }
        : { json: { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18' } } };
    };
    expect((await initialized(mcp.url, { browser: false }, io)).result).toBeDefined();
    const asked = second.requests.findLast(({ path }) => path === '/authorize')?.query;
    expect([asked?.get('resource'), asked?.has('dpop_jkt')]).toEqual([mcp.url, false]);
  });

  it('names the way in without a key where the authorization server binds none any more', async () => {
    const { as, mcp, io } = await startEnded(1);
    const bound = as.routes['POST /token'];
    as.routes['POST /token'] = (request) => {
      const answer = typeof bound === 'function' ? bound(request) : {};
      return { ...answer, json: { ...Object(answer.json), token_type: 'Bearer' } };
    };
    const { error } = await initialized(mcp.url, { browser: false }, io);
    expect(error?.message).toMatch(/did not bind .* To log in without one: .*gatehouse login http\S+$/);
  });

  it('names the command that logs in as was chosen, where nobody can be asked after a refused renewal', async () => {
    const { as, mcp, io } = await startEnded(1);
    const env = { ...io.env, BROWSER: 'none' };
    for (let start = 1; start <= 2; start++) {
      const { error } = await initialized(mcp.url, {}, { ...io, env });
      expect(error?.message).toMatch(/Nobody can log in here: /);
      expect(error?.message).toMatch(
        new RegExp(`gatehouse login \\S+ --dpop --no-resource --issuer ${as.origin}$`),
      );
    }
  });

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
      /login \S+ --grant workload_identity --client-id ci --assertion-file <file> --issuer \S+$/,
    );
    const unasked = await initialized(ended.mcp.url, { browser: false }, ended.io);
    expect(unasked.error?.message).toMatch(
      /^The login of a machine has ended\. .*--grant workload_identity /,
    );
    expect(ended.as.asked()).not.toContain('GET /authorize');
    const limited = await startLoggedIn({}, machine);
    limited.mcp.needsScope = 'write';
    const refused = await initialized(limited.mcp.url, { login: false }, limited.io, [initialize, call]);
    expect(refused.error?.message).toMatch(
      /--scope 'read write' --grant workload_identity --client-id ci --assertion-file <file> --issuer \S+$/,
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
