import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { type LoginCommandOptions, registerLogin, runLogin } from '../../../src/cli/commands/login.ts';
import { createTokenFile, tokenFilePath } from '../../../src/client/node/index.ts';
import { startAuthorizationServer, startMcpServer } from '../../client/support/protected-server.ts';
import { testIo } from '../support/client-commands.ts';

/** Runs a login whose user opens the printed URL. */
async function logIn(
  options: LoginCommandOptions = {},
  more: { input?: string; metadata?: Record<string, unknown>; scopes?: string[] } = {},
) {
  const as = await startAuthorizationServer(more.metadata);
  const mcp = await startMcpServer(as, more.scopes === undefined ? {} : { scopes: more.scopes });
  const { io, home, written } = testIo(more.input === undefined ? {} : { input: more.input });
  const { write } = io.stderr;
  io.stderr.write = (text) => {
    write(text);
    const opened = /^Open this URL: (.*)$/m.exec(text)?.[1];
    if (opened) void fetch(opened);
  };
  const ended = runLogin(mcp.url, { browser: false, ...options }, io);
  return { as, mcp, io, home, written, ended, store: createTokenFile(home) };
}

describe('gatehouse login', () => {
  it('tells each step on standard error and keeps the login (A8-06)', async () => {
    const { as, mcp, home, written, ended, store } = await logIn({}, { scopes: ['read'] });
    await ended;
    expect(written.stdout).toBe('');
    expect(written.stderr.split('\n')).toEqual([
      `Asking ${mcp.url} how to log in`,
      `Authorization server: ${as.origin} (named by the metadata of the server)`,
      'Registered as a new client',
      expect.stringMatching(new RegExp(`^Open this URL: ${as.origin}/authorize\\?`)),
      'Waiting for the browser',
      `Logged in to ${mcp.url} with: read`,
      `The login is kept in ${tokenFilePath(home)}`,
      '',
    ]);
    expect((await store.findCredential(mcp.url))?.scopes).toEqual(['read']);
  });

  it('prints what was logged in to as JSON, without any token or secret (T-191)', async () => {
    const { as, mcp, home, written, ended, store } = await logIn({ json: true, scope: 'a  b' });
    await ended;
    expect(JSON.parse(written.stdout)).toEqual({
      server: mcp.url,
      issuer: as.origin,
      resource: mcp.url,
      scopes: ['a', 'b'],
      expiresAt: expect.any(Number),
      renewable: true,
      tokenFile: tokenFilePath(home),
    });
    const { accessToken = '', refreshToken = '' } = (await store.findCredential(mcp.url)) ?? {};
    for (const secret of [accessToken, refreshToken]) {
      expect(secret).not.toBe('');
      expect(written.stdout + written.stderr).not.toContain(secret);
    }
  });

  it('reads a client secret from standard input and never shows it (A5-11, T-191)', async () => {
    const options = { clientId: 'mine', clientSecretStdin: true };
    const { as, written, ended } = await logIn(options, { input: 'very-secret\n' });
    await ended;
    const { headers } = as.requests.find(({ path }) => path === '/token') ?? {};
    expect(headers?.authorization).toBe(`Basic ${btoa('mine:very-secret')}`);
    expect(as.asked()).not.toContain('POST /register');
    expect(written.stdout + written.stderr).not.toContain('very-secret');
  });

  it('has no option that takes a secret: arguments can be seen by every process (T-191)', () => {
    const program = new Command();
    registerLogin(program, testIo().io);
    const options = program.commands[0]?.options.map(({ flags }) => flags) ?? [];
    expect(options).toContain('--client-secret-stdin');
    expect(options.filter((flags) => /secret|token|password/.test(flags) && flags.includes('<'))).toEqual([]);
  });

  it.each([
    ['without a client id', { clientSecretStdin: true }, 'x'],
    ['without a secret', { clientId: 'a', clientSecretStdin: true }, '\n'],
    ['with a secret without end', { clientId: 'a', clientSecretStdin: true }, 'x'.repeat(5000)],
  ])('refuses --client-secret-stdin %s as wrong usage', async (_, options, input) => {
    const { as, ended } = await logIn(options, { input });
    await expect(ended).rejects.toMatchObject({ exitCode: 2 });
    expect(as.requests).toEqual([]);
  });

  it('refuses scopes and origins that are none', async () => {
    const parse = (...args: string[]) => {
      const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
      registerLogin(program, testIo().io);
      for (const command of program.commands)
        command.exitOverride().configureOutput({ writeErr: () => undefined });
      return program.parseAsync(['node', 'gatehouse', 'login', 'http://127.0.0.1:9/', ...args]);
    };
    await expect(parse('--scope', 'a"b')).rejects.toThrow('Scopes are words');
    await expect(parse('--allow-origin', 'https://x/path')).rejects.toThrow('An origin looks like');
    await expect(parse('--no-browser')).rejects.toMatchObject({ exitCode: 6 });
  });

  it('starts the program of BROWSER, and says so where it cannot be started', async () => {
    const { io, written, ended } = await logIn({ browser: true });
    Object.assign(io.env, { BROWSER: '/nowhere/browser' });
    await ended;
    expect(written.stderr).toContain('No browser could be started. Open the URL yourself');
  });

  it('ends with exit code 3 and the reason where the user says no', async () => {
    const { as, mcp, io, ended } = await logIn();
    await ended;
    as.routes['GET /authorize'] = ({ query }) => ({
      status: 302,
      headers: {
        location: `${query.get('redirect_uri')}?${new URLSearchParams({
          error: 'access_denied',
          error_description: '\u001b[31mno',
          state: query.get('state') ?? '',
          iss: as.origin,
        })}`,
      },
      text: '',
    });
    await expect(runLogin(mcp.url, { browser: false }, io)).rejects.toMatchObject({
      exitCode: 3,
      message: 'The authorization server ended the login: "access_denied" ("\\u001b[31mno").',
    });
  });

  it('ends with exit code 6 and the difference where the issuer is another one (A4-04)', async () => {
    const { ended } = await logIn({}, { metadata: { issuer: 'https://evil.example' } });
    await expect(ended).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining('found "https://evil.example"'),
    });
  });

  it('accepts a token endpoint on another origin only where that origin is allowed (T-183)', async () => {
    const other = await startAuthorizationServer();
    const metadata = { token_endpoint: `${other.origin}/token` };
    const { ended } = await logIn({}, { metadata });
    await expect(ended).rejects.toMatchObject({ exitCode: 6, hint: 'To allow it: --allow-origin <origin>' });
    other.routes['POST /token'] = { json: { access_token: 'x', token_type: 'bearer' } };
    const allowed = await logIn({ allowOrigin: [other.origin] }, { metadata });
    await allowed.ended;
    expect((await allowed.store.findCredential(allowed.mcp.url))?.accessToken).toBe('x');
  });
});
