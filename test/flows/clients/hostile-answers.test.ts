import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { withServer } from '../../../src/cli/commands/mcp-client/with-server.ts';
import type { CommandIo } from '../../../src/cli/output.ts';
import { startLoggedIn, testIo } from '../../cli/support/client-commands.ts';
import { type Answer, startServer } from '../../client/support/scripted-server.ts';

const list = (url: string, io: CommandIo, timeout = 10): Promise<unknown> =>
  withServer(url, io, (client) => client.listTools(), { timeout, header: ['X-Key: env:GATEHOUSE_HOME'] });

describe('a command that is logged in stops', () => {
  it('at a server that takes no token, not even a new one (T-186)', async () => {
    const { as, mcp, io } = await startLoggedIn({}, { refreshToken: 'rt' });
    as.refreshTokens.add('rt');
    mcp.routes['POST /mcp'] = {
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      json: {},
    };
    await expect(list(mcp.url, io)).rejects.toMatchObject({ exitCode: exitCodes.loginNeeded });
    expect(mcp.requests.length).toBeLessThanOrEqual(3);
    expect(as.asked()).toEqual(['POST /token']);
  });

  it('at a server that wants ever more scopes (T-186)', async () => {
    const { as, mcp, io } = await startLoggedIn();
    mcp.routes['POST /mcp'] = {
      status: 403,
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="ever more"' },
      json: {},
    };
    await expect(list(mcp.url, io)).rejects.toMatchObject({ exitCode: exitCodes.scopeMissing });
    expect(mcp.requests.length).toBeLessThanOrEqual(3);
    expect(as.requests).toEqual([]);
  });

  it('at a redirect to another origin, with token, header and message (T-186)', async () => {
    const { mcp, io } = await startLoggedIn();
    const thief = await startServer();
    for (const status of [302, 307]) {
      mcp.routes['POST /mcp'] = { status, headers: { location: `${thief.origin}/mcp` }, text: '' };
      await expect(list(mcp.url, io)).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    }
    expect(mcp.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer at',
      'x-key': expect.anything(),
    });
    expect(mcp.requests.length).toBeLessThanOrEqual(4);
    expect(thief.requests).toEqual([]);
  });

  it('at a token endpoint that sends the refresh token elsewhere (T-186)', async () => {
    const { as, mcp, io } = await startLoggedIn({}, { refreshToken: 'rt' });
    const thief = await startServer();
    as.accessTokens.clear();
    as.routes['POST /token'] = { status: 307, headers: { location: `${thief.origin}/token` }, text: '' };
    await expect(list(mcp.url, io)).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    expect(thief.requests).toEqual([]);
  });
});

/** Sends as fast as it is taken, until the other side leaves. */
function endless(headers: Record<string, string>, part: string): Answer {
  return {
    raw: (response: ServerResponse) => {
      const push = (): void => {
        while (response.write(part));
        response.once('drain', push);
      };
      response.writeHead(200, headers);
      push();
    },
  };
}

const endlessHead: Answer = {
  raw: ({ socket }) => {
    const timer = setInterval(() => socket?.write(`x-more: ${'a'.repeat(1000)}\r\n`), 5);
    socket?.on('close', () => clearInterval(timer)).on('error', () => undefined);
    socket?.write('HTTP/1.1 200 OK\r\n');
  },
};

it.each([
  [
    'an event without an end',
    endless({ 'content-type': 'text/event-stream' }, `data: ${'a'.repeat(65_536)}\n`),
  ],
  ['a body without an end', endless({ 'content-type': 'application/json' }, ' '.repeat(65_536))],
  [
    '50 MB that are small while packed',
    {
      raw: (response: ServerResponse) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(50_000_000))),
    },
  ],
  ['a head without an end', endlessHead],
])(
  'a command ends at a server that sends %s (T-189)',
  async (_, answer) => {
    const server = await startServer({ 'POST /mcp': answer, 'GET /mcp': answer });
    const { io } = testIo();
    await expect(list(`${server.origin}/mcp`, io)).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    expect(server.requests.length).toBeLessThanOrEqual(5);
  },
  40_000,
);
