import { describe, expect, it } from 'vitest';
import { withServer } from '../../../../src/cli/commands/mcp-client/with-server.ts';
import { clientCredentialsExtension } from '../../../../src/oauth/metadata.ts';
import { startServer } from '../../../client/support/scripted-server.ts';
import { startLoggedIn, testIo } from '../../support/client-commands.ts';

describe('a command on a server', () => {
  it('uses the login that is kept', async () => {
    const { mcp, io } = await startLoggedIn({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] });
    const { tools } = await withServer(mcp.url, io, (client) => client.listTools());
    expect(tools.map(({ name }) => name)).toEqual(['a']);
    expect(mcp.requests.every(({ headers }) => headers.authorization === 'Bearer at')).toBe(true);
  });

  it.each([
    [{ type: 'client_credentials', clientSecret: 's' }, { [clientCredentialsExtension]: {} }],
    [undefined, undefined],
  ] as const)(
    'that is kept by the grant %j declares the extensions %j (A13-01, A13-11)',
    async (grant, declared) => {
      const { mcp, io } = await startLoggedIn({}, grant === undefined ? {} : { grant });
      await withServer(mcp.url, io, async () => 1);
      const capabilities = mcp.requests
        .filter(({ body }) => body.includes('"initialize"'))
        .map(({ body }) => JSON.parse(body).params.capabilities.extensions);
      expect(capabilities).toEqual([declared]);
    },
  );

  it('without a login ends with exit code 3 and the login command', async () => {
    const { mcp } = await startLoggedIn();
    const { io } = testIo();
    await expect(withServer(mcp.url, io, async () => 1)).rejects.toMatchObject({
      exitCode: 3,
      hint: expect.stringMatching(new RegExp(`^Run: .*gatehouse login ${mcp.url}$`)),
    });
  });

  it('ends with exit code 6 where nobody answers, or something that is no MCP server', async () => {
    const { io } = testIo();
    await expect(withServer('http://127.0.0.1:9/mcp', io, async () => 1)).rejects.toMatchObject({
      exitCode: 6,
    });
    const page = await startServer({
      'POST /mcp': { headers: { 'content-type': 'text/html' }, text: '<p>' },
    });
    await expect(withServer(`${page.origin}/mcp`, io, async () => 1)).rejects.toMatchObject({ exitCode: 6 });
    const broken = await startServer({ 'POST /mcp': { status: 500, text: 'stack' } });
    await expect(withServer(`${broken.origin}/mcp`, io, async () => 1)).rejects.toMatchObject({
      exitCode: 6,
    });
  });

  it('says how long it waited for a server that does not answer, and how to wait longer', async () => {
    const { mcp, io } = await startLoggedIn();
    const silent = { ...io, fetch: () => new Promise<Response>(() => undefined) };
    await expect(withServer(mcp.url, silent, async () => 1, { timeout: 0.2 })).rejects.toMatchObject({
      exitCode: 6,
      message: 'The server did not answer within 0.2 s.',
      hint: 'To wait longer: --timeout <seconds>',
    });
  });

  it('ends with exit code 6 in a loop of redirects (T-186)', async () => {
    const server = await startServer();
    server.routes['POST /mcp'] = { status: 302, headers: { location: `${server.origin}/mcp` }, text: '' };
    const { io } = testIo();
    await expect(withServer(`${server.origin}/mcp`, io, async () => 1)).rejects.toMatchObject({
      exitCode: 6,
    });
    expect(server.requests.length).toBeLessThanOrEqual(3);
  });
});
