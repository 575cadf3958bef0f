import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';
import { registerDoctor, runDoctor } from '../../../../src/cli/commands/doctor/doctor.ts';
import { programName } from '../../../../src/cli/output.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { routeNames, startServer } from '../../../doctor/support/server.ts';
import { runProgram } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';
import { testIo } from '../../support/client-commands.ts';

/** What this machine is like is no matter of these tests. */
const only = ['PRM-RESOURCE', 'AS-PKCE'];

const broken = () =>
  startServer({
    fault: (server) =>
      server.publish(routeNames.authorizationServer, { code_challenge_methods_supported: ['plain'] }),
  });

describe('gatehouse doctor', () => {
  it('prints a report and ends well where there is no fault', async () => {
    const server = await startServer();
    const { io, written } = testIo();
    await runDoctor(server.url, { only }, io);
    expect(written.stdout).toContain('✓ pass    PRM-RESOURCE');
    expect(written.stdout).toContain('2 checks: 2 passed');
    expect(written.stdout).not.toContain('\u001b');
    expect(written.stderr).toBe('');
  });

  it('ends with code 8 where there are faults, and names them', async () => {
    const { io, written } = testIo();
    await expect(runDoctor((await broken()).url, { only }, io)).rejects.toMatchObject({
      exitCode: 8,
      message: 'Problems were found. Fix first: AS-PKCE',
    });
    expect(written.stdout).toContain('✗ fail    AS-PKCE');
  });

  it('ends with code 9 where the server is not reached', async () => {
    const { io } = testIo();
    await expect(runDoctor('http://127.0.0.1:1024/mcp', { only }, io)).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringContaining('REACH-TCP'),
    });
  });

  it('ends with code 9 at Ctrl+C, at once, though a browser is waited for', async () => {
    const { url } = await startServer();
    const args = ['doctor', url, '--active', '--no-browser', '--only', 'LOGIN-CODE'];
    const doctor = runProgram(commandLine, args, { env: { GATEHOUSE_HOME: await testFolder() } });
    onTestFinished(() => doctor.stop());
    await doctor.waitFor('stderr', /Open this URL/);
    doctor.process.kill('SIGINT');
    expect(await doctor.ended).toBe(9);
    expect(doctor.written.stderr).toContain('The examination was stopped.');
  });

  it('counts warnings where it is told to', async () => {
    const server = await startServer();
    const { io } = testIo();
    await runDoctor(`${server.url}/`, { only: ['PRM-SERVERS'] }, io);
    await expect(
      runDoctor(server.url.replace('/mcp', '/MCP'), { only: ['CHALLENGE-STATUS'], failOn: 'warn' }, io),
    ).rejects.toMatchObject({ exitCode: 8 });
  });

  it('writes one JSON object, or JUnit XML, and nothing else to standard output', async () => {
    const { url } = await broken();
    const json = testIo();
    await expect(runDoctor(url, { only, json: true }, json.io)).rejects.toMatchObject({ exitCode: 8 });
    expect(JSON.parse(json.written.stdout)).toMatchObject({
      schema: 1,
      url,
      outcome: 'faults',
      summary: { fail: 1, pass: 1 },
      findings: [
        { id: 'PRM-RESOURCE' },
        { id: 'AS-PKCE', verify: `${programName} doctor --only AS-PKCE ${url}` },
      ],
    });
    const junit = testIo();
    await expect(runDoctor(url, { only, junit: true }, junit.io)).rejects.toMatchObject({ exitCode: 8 });
    expect(junit.written.stdout).toMatch(/^<\?xml/);
    expect(junit.written.stdout).toContain('<failure type="AS-PKCE"');
  });

  it('writes a bundle that only its user can read, with a command for each exchange (T-188, T-191)', async () => {
    const server = await startServer();
    const file = join(testFolder(), 'bundle.json');
    const { io, written } = testIo();
    await runDoctor(server.url, { only: ['CHALLENGE-BAD-TOKEN'], bundle: file }, io);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const bundle = JSON.parse(await readFile(file, 'utf8')) as {
      kind: string;
      exchanges: { curl: string }[];
    };
    expect(bundle.kind).toBe('gatehouse-doctor-bundle');
    expect(bundle.exchanges.length).toBeGreaterThan(1);
    for (const { curl } of bundle.exchanges) expect(curl).toContain('curl --silent');
    expect(JSON.stringify(bundle)).not.toContain('gatehouse-doctor-made-this-up');
    expect(written.stderr).toContain(file);
  });

  it('says with --as and --verbose what is known of a client, and how', async () => {
    const server = await startServer();
    const { io, written } = testIo();
    await runDoctor(server.url, { as: ['vscode'], verbose: true }, io);
    expect(written.stdout).toContain('✓ pass    CLIENT-VSCODE VS Code gets to the login page');
    expect(written.stdout).toMatch(/\nVS Code .*, described on [\d-]+:\n(?:- .*\n)*- .*\(source: https:/);
  });

  it('lists all checks with their clauses, without a server', async () => {
    const { io, written } = testIo();
    await runDoctor(undefined, { list: true }, io);
    expect(written.stdout).toMatch(/^ID +RULE +CLAUSE +NEEDS\n/);
  });

  it('logs in with --active through the browser, says beforehand how often, and takes back what it got', async () => {
    const server = await startServer();
    const folder = testFolder();
    const browser = join(folder, 'browser');
    await writeFile(browser, '#!/bin/sh\nexec curl --silent --location --output /dev/null "$1"\n', {
      mode: 0o755,
    });
    const { io, written } = testIo({ env: { BROWSER: browser, PATH: process.env.PATH ?? '' } });
    const clock = { ...io, now: () => Math.floor(Date.now() / 1000) };
    const bundle = join(folder, 'bundle.json');
    await runDoctor(
      server.url,
      { active: true, only: ['LOGIN-CODE', 'TOKEN-ACCEPTED', 'TOKEN-AUDIENCE'], bundle, json: true },
      clock,
    );
    expect(JSON.parse(written.stdout)).toMatchObject({
      active: true,
      outcome: 'sound',
      summary: { pass: 3 },
    });
    expect(written.stderr).toContain('You will be asked to consent once.');
    expect(server.asked()).toContain('POST /revoke');
    expect(server.asked().some((asked) => asked.startsWith('DELETE /register/'))).toBe(true);
    const secrets = server.requests.flatMap(({ body, query, headers }) => [
      new URLSearchParams(body).get('code') ?? '',
      new URLSearchParams(body).get('code_verifier') ?? '',
      new URLSearchParams(body).get('token') ?? '',
      query.get('code') ?? '',
      (headers.authorization ?? '').replace(/^Bearer /, ''),
    ]);
    const told = `${await readFile(bundle, 'utf8')}${written.stdout}${written.stderr}`;
    const real = secrets.filter((secret) => secret.length > 8);
    expect(real.length).toBeGreaterThan(3);
    expect(real.filter((secret) => told.includes(secret))).toEqual([]);
  });

  it('says what is missing or wrong in its arguments', async () => {
    const { io } = testIo();
    await expect(runDoctor(undefined, {}, io)).rejects.toMatchObject({ exitCode: 2 });
    await expect(runDoctor('http://127.0.0.1:1024', { only: ['NO-SUCH'] }, io)).rejects.toMatchObject({
      exitCode: 2,
      message: 'There is no check NO-SUCH.',
      hint: expect.stringContaining('--list'),
    });
  });

  it.each([
    ['nonsense', undefined],
    ['localhost:3420/mcp', 'Did you mean http://localhost:3420/mcp?'],
    ['mcp.example.com/mcp', 'Did you mean https://mcp.example.com/mcp?'],
    ['ftp://mcp.example.com/mcp', undefined],
  ])('takes no %j for a URL, and says what was meant where that is known', async (url, hint) => {
    const { io, written } = testIo();
    await expect(runDoctor(url, {}, io)).rejects.toMatchObject({
      exitCode: 2,
      message: `The URL "${url}" is not an http or https URL.`,
      hint,
    });
    expect(written.stdout).toBe('');
  });

  it('refuses a bundle that cannot be written before it asks the server anything', async () => {
    const server = await startServer();
    const { io } = testIo();
    const folder = testFolder();
    for (const [bundle, code] of [
      [join(folder, 'nowhere', 'bundle.json'), 'ENOENT'],
      [folder, 'EISDIR'],
    ] as const)
      await expect(runDoctor(server.url, { only, bundle }, io)).rejects.toMatchObject({
        exitCode: 2,
        message: `The bundle cannot be written to ${bundle}: ${code}.`,
      });
    expect(server.requests).toEqual([]);
  });

  it('says which known clients would get in, and nothing else', async () => {
    const { io, written } = testIo();
    const server = await startServer();
    await runDoctor(server.url, { as: ['sdk-v2', 'cursor'] }, io);
    expect(written.stdout).toContain('Known clients\n');
    expect(written.stdout).toMatch(/✓ pass {4}CLIENT-SDK-V2 /);
    expect(written.stdout).toMatch(/CLIENT-CURSOR /);
    expect(written.stdout).toContain('2 checks: ');
    await expect(runDoctor(server.url, { as: ['nobody'] }, io)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('There is no client nobody. There are: all, '),
    });
  });

  it('shows on a terminal which check runs, and takes that away', async () => {
    const server = await startServer();
    const { io, written } = testIo();
    const stderr = { ...io.stderr, isTTY: true, columns: 80 };
    await runDoctor(server.url, { only: ['AS-PKCE'] }, { ...io, stderr });
    expect(written.stderr).toContain(`Examining ${server.url}`);
    expect(written.stderr.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('is a command with help that names its exit codes', () => {
    const program = new Command();
    registerDoctor(program, testIo().io);
    const command = program.commands.find((one) => one.name() === 'doctor');
    let help = '';
    const writeOut = (text: string): void => {
      help += text;
    };
    command?.configureOutput({ writeOut }).outputHelp();
    expect(help).toContain('--fail-on');
    expect(help).toContain('Exit codes: 0 no problems, 8 problems were found, 9');
  });
});
