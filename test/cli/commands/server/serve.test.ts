import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { schedulingPolicy } from '../../../../src/cli/batch-scheduling.ts';
import { packageVersion } from '../../../../src/package-files.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { earlierDataFolder } from '../../../storage/sqlite/earlier-database.ts';
import { obtainTokens, tryAccess } from '../../../support/oauth.ts';
import { type Program, runProgram } from '../../../support/program.ts';
import { commandLine } from '../../../support/served.ts';
import { newInstallation } from '../../support/installation.ts';

function serve(args: readonly string[], env: Record<string, string> = {}): Program {
  const program = runProgram(commandLine, ['serve', ...args], { input: '', env });
  onTestFinished(() => program.stop());
  return program;
}

async function started(args: readonly string[], env: Record<string, string> = {}) {
  const program = serve([...args, '--port', '0', '--json'], env);
  const [text] = await program.waitFor('stdout', /\{[\s\S]*\n\}/);
  const facts = JSON.parse(text) as {
    publicUrl: string;
    mcpUrl: string;
    port: number;
    firstAccount?: { email: string; generatedPassword?: string };
  };
  return { program, facts };
}

async function expectEnd(program: Program, code: number, reason: RegExp): Promise<void> {
  expect(await program.ended, program.written.stderr).toBe(code);
  expect(program.written.stderr).toMatch(reason);
  expect(program.written.stderr).not.toContain('    at ');
}

/** Asks a process to end and gives its exit code. */
function terminate(child: ChildProcess, program: Program): Promise<number | null> {
  child.kill('SIGTERM');
  return program.ended;
}

describe('gatehouse serve', () => {
  it('shows the password of the first account once; the second start finds all, tokens included', async () => {
    const data = join(testFolder(), 'data');
    const first = serve(['--data', data, '--port', '0']);
    const [, url = ''] = await first.waitFor('stdout', /serves (\S+)[\s\S]*Stop with Ctrl\+C/);
    const [, password = ''] = await first.waitFor('stdout', /Password +(\S+) +\(shown only now/);
    const person = { email: 'owner@localhost', password };
    const at = { url, mcpUrl: `${url}/mcp` };
    const { tokens } = await obtainTokens(at as Parameters<typeof obtainTokens>[0], { person });
    expect(await terminate(first.process, first)).toBe(0);
    for (const name of readdirSync(data))
      expect(readFileSync(join(data, name)).includes(password), name).toBe(false);
    expect(first.written.stderr).not.toContain(password);

    const second = serve(['--data', data, '--port', new URL(url).port]);
    await second.waitFor('stdout', /Stop with Ctrl\+C/);
    expect(second.written.stdout).not.toMatch(/password/i);
    expect(await tryAccess(at.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('takes the first account from the environment and never shows its password', async () => {
    const env = {
      GATEHOUSE_ACCOUNT_EMAIL: 'me@example.com',
      GATEHOUSE_ACCOUNT_PASSWORD: 'from the environment',
    };
    const { program, facts } = await started(['--data', join(testFolder(), 'data')], env);
    expect(facts.firstAccount).toEqual({ email: 'me@example.com' });
    const { publicUrl: url, mcpUrl } = facts;
    const person = { email: 'me@example.com', password: 'from the environment' };
    await obtainTokens({ url, mcpUrl } as Parameters<typeof obtainTokens>[0], { person });
    expect(program.written.stdout + program.written.stderr).not.toContain('from the environment');
  });

  it('says that a port is in use, before it touches any data', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const folder = testFolder();
    const program = serve(['--data', join(folder, 'data'), '--port', String(port)]);
    await expectEnd(
      program,
      7,
      new RegExp(`^Port ${port} is in use\\.\nChoose another one with --port\\.\n$`),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says that the data folder cannot be written', async () => {
    const file = join(testFolder(), 'file');
    writeFileSync(file, '');
    await expectEnd(
      serve(['--data', join(file, 'data'), '--port', '0']),
      7,
      /^The data folder \/.*\/data cannot be written\..*--data\.\n$/,
    );
  });

  it('says that it has to bring a database of an earlier version up, and serves it (T-174)', async () => {
    const program = serve(['--data', await earlierDataFolder(), '--port', '0']);
    await program.waitFor('stdout', /Gatehouse/);
    await program.waitFor(
      'stderr',
      /^The database is of an earlier version\. It is upgraded from schema 11 to/,
    );
    await program.stop();
  });

  it('that waits for another process with the database for itself can be stopped meanwhile (T-174)', async () => {
    const data = await earlierDataFolder();
    const holder = runProgram('test/storage/sqlite/hold-alone.ts', [join(data, 'gatehouse.db'), '60000']);
    onTestFinished(() => holder.stop());
    await holder.waitFor('stdout', /held/);
    const program = serve(['--data', data, '--port', '0']);
    await program.waitFor('stderr', /^Another process has locked the database, .* Waiting for it\.\n/);
    program.process.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  });

  it('says that the database is of a newer program, or damaged, and leaves it as it is (T-172, T-174)', async () => {
    const newer = await newInstallation();
    const database = new Database(join(newer, 'gatehouse.db'));
    database.pragma('user_version = 9999');
    database.close();
    const damaged = await newInstallation();
    writeFileSync(join(damaged, 'gatehouse.db'), 'no database at all');
    await Promise.all([
      expectEnd(
        serve(['--data', newer, '--port', '0']),
        7,
        /^The database is of schema 9999, this program knows/,
      ),
      expectEnd(serve(['--data', damaged, '--port', '0']), 7, /^The database is damaged\. Put a backup/),
    ]);
    expect(readFileSync(join(damaged, 'gatehouse.db'), 'utf8')).toBe('no database at all');
  });

  it('says that it begins anew where the database is gone and its keys are not (T-172)', async () => {
    const data = await newInstallation();
    rmSync(join(data, 'gatehouse.db'));
    const keys = join(data, 'gatehouse.keys.json');
    const earlier = readFileSync(keys, 'utf8').replace(
      /"createdAt":\s*(\d+)/g,
      (_all, at) => `"createdAt": ${Number(at) - 86_400}`,
    );
    writeFileSync(keys, earlier);
    const program = serve(['--data', data, '--port', '0']);
    await program.waitFor('stdout', /Gatehouse/);
    await program.waitFor(
      'stderr',
      /^No database was found in \/.*, although its keys are from \d{4}-\d\d-\d\d: a new one is created, .*restore a backup, with --replace\.\n/,
    );
    await program.stop();
  });

  it('names every problem of a config file at once, with the nearest names', async () => {
    const config = join(testFolder(), 'gatehouse.json');
    writeFileSync(config, '{"publicURL":"https://x.example","tokens":{"codeSeconds":0},"listn":{}}');
    await expectEnd(
      serve(['--config', config]),
      2,
      /^The settings cannot be used:\n- tokens\.codeSeconds: .*\n- publicURL: .*did you mean publicUrl\?\n- listn: .*did you mean listen\?\n$/,
    );
  });

  it('says in the log what was started and where, without the password it made (T-194)', async () => {
    const data = join(testFolder(), 'data');
    const { program, facts } = await started(['--data', data]);
    await program.waitFor('stderr', /the server has started/);
    const lines = program.written.stderr.trimEnd().split('\n');
    const line = lines.find((each) => each.includes('the server has started')) ?? '';
    const { firstAccount, ...where } = facts;
    expect(JSON.parse(line)).toMatchObject({
      level: 'info',
      version: packageVersion(),
      node: process.version,
      ...where,
      dataFolder: data,
      ...(schedulingPolicy() && { scheduling: expect.stringMatching(/^[a-z]+$/) }),
    });
    const { generatedPassword = '' } = firstAccount ?? {};
    expect(generatedPassword).not.toBe('');
    expect(program.written.stderr).not.toContain(generatedPassword);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 on %s, promptly, with connections open, and says so in the log (T-181)',
    async (signal) => {
      const { program, facts } = await started(['--data', join(testFolder(), 'data')]);
      await fetch(`${facts.publicUrl}/healthz`);
      const begun = performance.now();
      program.process.kill(signal);
      expect(await program.ended).toBe(0);
      expect(performance.now() - begun).toBeLessThan(3000);
      const last = program.written.stderr.trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).toMatchObject({ msg: 'the server has stopped' });
      await expect(fetch(`${facts.publicUrl}/healthz`)).rejects.toThrow();
    },
  );
});
