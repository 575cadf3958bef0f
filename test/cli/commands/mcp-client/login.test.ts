import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CliError } from '../../../../src/cli/cli-error.ts';
import { clientName, registerLogin, runLogin } from '../../../../src/cli/commands/mcp-client/login.ts';
import type { LoginCommandOptions } from '../../../../src/cli/commands/mcp-client/login-options.ts';
import { runTools } from '../../../../src/cli/commands/mcp-client/tools.ts';
import type { CommandIo } from '../../../../src/cli/output.ts';
import { createTokenFile, tokenFilePath } from '../../../../src/client/node/index.ts';
import { offerDeviceLogin } from '../../../client/support/device-login.ts';
import { startAuthorizationServer, startMcpServer } from '../../../client/support/protected-server.ts';
import { testIo } from '../../support/client-commands.ts';

/** What a test of a login sets. */
interface Setting {
  input?: string;
  env?: Record<string, string>;
  metadata?: Record<string, unknown>;
  scopes?: string[];
}

async function setUp({ input, env, metadata, scopes }: Setting = {}) {
  const as = await startAuthorizationServer(metadata);
  const mcp = await startMcpServer(as, scopes === undefined ? {} : { scopes });
  const surroundings = testIo({
    ...(input === undefined ? {} : { input }),
    ...(env === undefined ? {} : { env }),
  });
  return { as, mcp, ...surroundings, store: createTokenFile(surroundings.home) };
}

/** Calls back with the URL that a login prints. */
function onPrintedUrl(io: CommandIo, then: (url: string) => void): void {
  const { write } = io.stderr;
  io.stderr.write = (text) => {
    write(text);
    const url = /^Open this URL: (.*)$/m.exec(text)?.[1];
    if (url) then(url);
  };
}

/** Runs a login whose user opens the printed URL. */
async function logIn(options: LoginCommandOptions = {}, setting: Setting = {}) {
  const set = await setUp(setting);
  onPrintedUrl(set.io, (url) => void fetch(url));
  return { ...set, ended: runLogin(set.mcp.url, { browser: false, ...options }, set.io) };
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
      `The login is kept in ${tokenFilePath(home)}, in plain text that only you can read`,
      '',
    ]);
    expect((await store.findCredential(mcp.url))?.scopes).toEqual(['read']);
  });

  it('registers under a name that says which machine asks (FA-30)', async () => {
    const { as, ended } = await logIn();
    await ended;
    const { body = '{}' } = as.requests.find(({ path }) => path === '/register') ?? {};
    const { client_name: name } = JSON.parse(body) as { client_name: string };
    expect(name).toBe(clientName(hostname()));
    expect([clientName('desk.local'), clientName('a\u202e<b>'), clientName('\u202e')]).toEqual([
      'Gatehouse CLI on desk.local',
      'Gatehouse CLI on ab',
      'Gatehouse CLI',
    ]);
  });

  it('prints what was logged in to as JSON, without any token or secret (T-191)', async () => {
    const { as, mcp, home, written, ended, store } = await logIn({ json: true, scope: 'a  b' });
    await ended;
    expect(JSON.parse(written.stdout)).toEqual({
      server: mcp.url,
      issuer: as.origin,
      resource: mcp.url,
      client: expect.stringMatching(/^client-/),
      scopes: ['a', 'b'],
      expiresAt: expect.any(Number),
      renewable: true,
      bound: false,
      notGranted: [],
      tokenFile: tokenFilePath(home),
      sealedWith: null,
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
    const takesText = /<(?!file>|url>)/;
    expect(
      options.filter((flags) => /secret|token|password|key|assertion/.test(flags) && takesText.test(flags)),
    ).toEqual([]);
  });

  it.each([
    ['without a client id', { clientSecretStdin: true }, 'x'],
    ['without a secret', { clientId: 'a', clientSecretStdin: true }, '\n'],
    ['with a secret without end', { clientId: 'a', clientSecretStdin: true }, 'x'.repeat(20_000)],
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
    const { written, ended } = await logIn({ browser: true }, { env: { BROWSER: '/nowhere/browser' } });
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

  it('waits for nobody, and ends with exit code 3, where there is neither browser nor terminal (CL-6)', async () => {
    const { as, mcp, ended } = await logIn({ browser: true }, { env: { CI: 'true' } });
    await expect(ended).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('Nobody can log in here'),
      hint: expect.stringMatching(/--grant client_credentials.*--device.*--no-browser/s),
    });
    expect(mcp.asked()).toContain('GET /.well-known/oauth-protected-resource/mcp');
    expect(as.asked()).toEqual(['GET /.well-known/oauth-authorization-server']);
  });

  it('says first that the server cannot be reached, or needs no login, where nobody can log in either', async () => {
    const { mcp, io } = await setUp({ env: { CI: 'true' } });
    await expect(runLogin('http://127.0.0.1:9/mcp', {}, io)).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/mcp cannot be reached/),
    });
    await expect(runLogin(new URL(mcp.url).origin, {}, io)).rejects.toMatchObject({
      exitCode: 6,
      hint: expect.stringContaining(`Did you mean ${mcp.url}?`),
    });
    mcp.routes['POST /mcp'] = { json: {} };
    mcp.routes['GET /mcp'] = { json: {} };
    delete mcp.routes['GET /.well-known/oauth-protected-resource/mcp'];
    await expect(runLogin(mcp.url, {}, io)).rejects.toMatchObject({
      message: expect.stringContaining('it needs no login'),
    });
  });

  it('takes the answer from standard input where that is asked for (CL-6)', async () => {
    const { as, mcp, io, written } = await setUp();
    const input = new PassThrough();
    onPrintedUrl(io, async (url) => {
      const { headers } = await fetch(url, { redirect: 'manual' });
      input.write(`that went wrong\n\n"${headers.get('location')}"\n`);
    });
    await runLogin(mcp.url, { browser: false, paste: true }, { ...io, stdin: input });
    expect(written.stderr).toContain('paste the address it ends at here');
    expect(as.accessTokens.size).toBeGreaterThan(0);
  });

  it('shows the code for another device (CL-6)', async () => {
    const { as, mcp, io, written } = await setUp();
    offerDeviceLogin(as);
    await runLogin(mcp.url, { device: true }, io);
    expect(written.stderr).toContain(`Open this URL on any device: ${as.origin}/device\n`);
    expect(written.stderr).toContain('Enter this code there: WDJB-MJHT\n');
    expect(written.stderr).toContain('it is good for 10 min');
  });

  it('suggested for one that was made without resource asks no other authorization server for a token that is good for all it serves (A7-01, T-184)', async () => {
    const { as, mcp, io, ended: loggedIn } = await logIn({ resource: false });
    await loggedIn;
    as.accessTokens.clear();
    as.routes['POST /token'] = { status: 400, json: { error: 'invalid_grant' } };
    const ended: unknown = await runTools(mcp.url, {}, io).catch((error: unknown) => error);
    const { hint = '' } = ended as CliError;
    expect(hint).toMatch(new RegExp(`gatehouse login ${mcp.url} --no-resource --issuer ${as.origin}$`));

    const other = await startAuthorizationServer();
    mcp.routes['GET /.well-known/oauth-protected-resource/mcp'] = {
      json: { resource: mcp.url, authorization_servers: [other.origin] },
    };
    const program = new Command();
    registerLogin(program, io);
    const words = hint.split('gatehouse ')[1]?.split(' ') ?? [];
    await expect(program.parseAsync(['node', 'gatehouse', ...words, '--no-browser'])).rejects.toMatchObject({
      exitCode: 6,
      message: expect.stringContaining(`${other.origin}, and the login is for ${as.origin} alone`),
      hint: expect.stringContaining('leave --issuer out'),
    });
    expect(other.asked()).toEqual(['GET /.well-known/oauth-authorization-server']);
  });

  it('logs a machine in as itself (A13-02)', async () => {
    const { as, mcp, io, home } = await setUp();
    as.routes['POST /token'] = ({ body, headers }) => {
      const right = headers.authorization === `Basic ${btoa('ci:very-secret')}`;
      if (!right || !body.includes('grant_type=client_credentials')) return { status: 400, json: {} };
      as.accessTokens.add('at-ci');
      return { json: { access_token: 'at-ci', token_type: 'Bearer', expires_in: 60 } };
    };
    const file = join(home, 'secret');
    writeFileSync(file, 'very-secret\n');
    const options = { grant: 'client_credentials', clientId: 'ci', clientSecretFile: file } as const;
    await runLogin(mcp.url, options, io);
    expect((await createTokenFile(home).findCredential(mcp.url))?.accessToken).toBe('at-ci');
  });

  it('does not wait for an answer to scopes that the server refuses, and names those it has', async () => {
    const { as, mcp, io, ended } = await logIn({}, { scopes: ['read', 'write'] });
    await ended;
    as.routes['GET /authorize'] = ({ query }) => {
      const answer = { error: 'invalid_scope', state: query.get('state') ?? '', iss: as.origin };
      return {
        status: 302,
        headers: { location: `${query.get('redirect_uri')}?${new URLSearchParams(answer)}` },
        text: '',
      };
    };
    await expect(runLogin(mcp.url, { browser: false, scope: 'bogus' }, io)).rejects.toMatchObject({
      exitCode: 3,
      hint: 'Scopes this server names: read write',
    });
  });

  it('says which URL was meant where it was given the origin', async () => {
    const { mcp, io } = await setUp();
    const origin = new URL(mcp.url).origin;
    await expect(runLogin(origin, { browser: false }, io)).rejects.toMatchObject({
      exitCode: 6,
      hint: expect.stringContaining(`Did you mean ${mcp.url}?`),
    });
  });

  it('has a help that shows every way to log in', () => {
    const program = new Command();
    registerLogin(program, testIo().io);
    const help = program.commands[0]?.helpInformation() ?? '';
    for (const part of ['How you log in:', '--device', '--paste', '--grant <grant>', '--store <how>'])
      expect(help).toContain(part);
    expect(Math.max(...help.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(120);
  });
});
