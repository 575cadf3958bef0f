import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/cli-error.ts';
import { testFolder } from '../client/support/folder.ts';
import { repository, runExecutable, runProgram } from '../support/program.ts';
import { commandLine } from '../support/served.ts';

async function gatehouse(args: string[], input = '') {
  const program = runProgram(commandLine, args, { input });
  const code = await program.ended;
  return { code, ...program.written };
}

describe('the command line', () => {
  it('explains itself: every command, and what each exit code means', async () => {
    const [help, account] = await Promise.all([gatehouse(['--help']), gatehouse(['account', '--help'])]);
    expect([help.code, help.stderr]).toEqual([0, '']);
    for (const command of [
      'serve',
      'stdio',
      'account',
      'client',
      'login',
      'logout',
      'connect',
      'doctor',
      'call',
    ])
      expect(help.stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7])
      expect(help.stdout).toMatch(new RegExp(`^ {2}${code} {2}\\w`, 'm'));
    expect(account.code).toBe(0);
    for (const command of ['add', 'list', 'remove', 'password'])
      expect(account.stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
  });

  it.each([
    ['login', 'notes:read'],
    ['tools', '/mcp'],
    ['call', `add_note '{"text":`],
  ])('shows an example of %s (%s)', async (command, part) => {
    const { stdout } = await gatehouse([command, '--help']);
    expect(stdout).toMatch(/\nExamples?:\n {2}scripts\/gatehouse /);
    expect(stdout).toContain(part);
  });

  it('prints JSON for whatever the client does, but where the README says otherwise', async () => {
    const readme = readFileSync(join(repository, 'README.md'), 'utf8');
    const [, section = ''] = readme.split('\n## Log in and debug\n');
    const table = section.match(/^\| `gatehouse .*?(?= \| )/gm)?.join('\n');
    const named = table?.replaceAll('`gatehouse ', '`').match(/(?<=`)[a-z]+/g);
    const [, exceptions] = /^All but (.*) take `--json`;/m.exec(section) ?? [];
    const { stdout } = await gatehouse(['completion', 'fish']);
    const without = named?.filter((command) => !stdout.includes(`from ${command}' -l 'json'`));
    expect(named).toContain('login');
    expect(exceptions?.match(/\w+/g)?.filter((word) => word !== 'and')).toEqual(without);
  });

  it.each([
    ['no such command', ['srve'], /unknown command 'srve'/],
    ['an option that does not exist', ['serve', '--prot', '1'], /unknown option '--prot'.*\n.*--port/],
    ['a port that is none', ['serve', '--port', '70000'], /A port is a number from 0 to 65535/],
    ['an argument that is missing', ['account', 'add'], /missing required argument 'email'/],
  ])('ends with 2 for %s and says where help is', async (_fault, args, reason) => {
    const { code, stdout, stderr } = await gatehouse(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
    expect(stderr).toContain('--help');
  });

  it('ends with 7 where there is no installation, with 2 where a request cannot be carried out', async () => {
    const data = join(testFolder(), 'data');
    const none = await gatehouse(['client', 'list', '--data', data]);
    expect(none).toEqual({
      code: 7,
      stdout: '',
      stderr: expect.stringMatching(
        /^There is no Gatehouse database in \/.*\.\nName the data folder with --data/,
      ),
    });
    const short = await gatehouse(
      ['account', 'add', 'me@x.example', '--password-stdin', '--data', testFolder()],
      'short',
    );
    expect(short).toEqual({
      code: 2,
      stdout: '',
      stderr: 'The password needs at least 8 characters.\n',
    });
  });

  it('has no option that takes a secret (T-191)', async () => {
    const helps = await Promise.all(
      [['serve'], ['account', 'add'], ['account', 'password']].map((args) => gatehouse([...args, '--help'])),
    );
    for (const { stdout } of helps) expect(stdout).not.toMatch(/--\S*(?:password|secret|token)\S* </);
  });

  it('keeps standard output for results, whatever libraries write to the console (B1-03)', async () => {
    const code = encodeURIComponent(`process.on('exit', () => console.debug('a library'));`);
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${code}` };
    const program = runProgram(commandLine, ['completion', 'fish'], { input: '', env });
    expect(await program.ended).toBe(0);
    expect(program.written.stdout).not.toContain('a library');
    expect(program.written.stderr).toBe('a library\n');
  });

  it.each([
    [
      'standard output is full',
      '>/dev/full',
      /^Standard output cannot be written to the end \(ENOSPC: .*\)\.\n$/,
    ],
    ['standard output is open for reading only', '1</dev/null', /^Standard output .* \(EBADF: .*\)\.\n$/],
    ['standard error is full as well', '>/dev/full 2>/dev/full', /^$/],
  ])('ends with 1 where %s, and says no more than that', async (_what, redirection, said) => {
    const shell = ['-c', `exec "$0" "$1" completion fish ${redirection}`, process.execPath, commandLine];
    const program = runExecutable('sh', shell);
    expect(await program.ended).toBe(exitCodes.unexpected);
    expect(program.written.stderr).toMatch(said);
  });

  it('shows its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await gatehouse(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});
