import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  backendEnvironment,
  createAccountFolders,
  secretsOf,
} from '../../../../src/gateway/backends/stdio/process-environment.ts';
import { testFolderForFile } from '../../../support/folder.ts';

describe('the environment of a backend', () => {
  const ours = { PATH: '/bin', HOME: '/root', API_TOKEN: 'a-long-token', MODE: 'on', SECRET: 'canary' };

  it('has what every program needs and what was named, nothing else (T-154)', () => {
    expect(backendEnvironment(['API_TOKEN', 'MODE'], ours)).toEqual({
      env: { PATH: '/bin', HOME: '/root', API_TOKEN: 'a-long-token', MODE: 'on' },
      secrets: ['a-long-token'],
      missing: [],
    });
  });

  it('has one line without its end, and several as they are', () => {
    const key = '-----BEGIN KEY-----\nabc\n-----END KEY-----\n';
    const given = { TOKEN: 'a token \r\n', BARE: 'b\n\n', KEY: key };
    const { env, secrets } = backendEnvironment(['TOKEN', 'BARE', 'KEY'], given);
    expect(env).toEqual({ TOKEN: 'a token ', BARE: 'b', KEY: key });
    expect(secrets).toContain('a token');
  });

  it('says which names are not set, those of every object’s members among them (T-137)', () => {
    expect(backendEnvironment(['NOPE', 'toString'], ours).missing).toEqual(['NOPE', 'toString']);
  });

  it('may be given with its values, which are kept out of the log', () => {
    expect(backendEnvironment({ KEY: 'a-long-token', MODE: 'on' }, ours)).toEqual({
      env: { PATH: '/bin', HOME: '/root', KEY: 'a-long-token', MODE: 'on' },
      secrets: ['a-long-token'],
      missing: [],
    });
  });
});

it('takes variables with their values as they are, expands nothing, and keeps the values out of the log (T-153)', () => {
  const literal = ['$', '{SECRET} $HOME'].join('');
  const wanted = { TOKEN: literal, PATH: '/opt/bin' };
  expect(backendEnvironment(wanted, { HOME: '/root', PATH: '/bin', SECRET: 'canary' })).toEqual({
    env: { HOME: '/root', PATH: '/opt/bin', TOKEN: literal },
    secrets: [literal, '/opt/bin'],
    missing: [],
  });
});

it('keeps each line of a value out of the log: a key in PEM is logged by its lines (T-194)', () => {
  const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBg\r\n  kqhkiG9w0BAQ \nx=\n-----END KEY-----\n';
  expect(secretsOf({ KEY: pem })).toEqual([
    '-----BEGIN KEY-----',
    'MIIEvQIBADANBg',
    'kqhkiG9w0BAQ',
    '-----END KEY-----',
  ]);
});

describe('the private folders of accounts', () => {
  const folder = testFolderForFile();
  const run = promisify(execFile);

  describe('the folder of an account', () => {
    it('is its own, for its owner alone, and the same after a restart', () => {
      const parent = join(folder, 'notes');
      const folders = createAccountFolders(parent);
      const [ada, grace] = [folders.of('ada'), folders.of('grace')];
      expect(ada).not.toBe(grace);
      expect(createAccountFolders(parent).of('ada')).toBe(ada);
      for (const path of [parent, ada, join(ada, 'tmp')]) expect(statSync(path).mode & 0o777).toBe(0o700);
      expect(statSync(join(parent, 'key')).mode & 0o777).toBe(0o600);
    });

    it('has a name that holds nothing of the account’s, and that another installation does not give (T-137)', () => {
      const folders = createAccountFolders(join(folder, 'one'));
      const accounts = ['../../etc', '/', 'a\0b', 'ada', ''];
      for (const account of accounts) expect(folders.of(account)).toMatch(/\/one\/[0-9a-f]{32}$/);
      expect(readdirSync(join(folder, 'one'))).toHaveLength(accounts.length + 1);
      const other = createAccountFolders(join(folder, 'two')).of('ada');
      expect(other.split('/').at(-1)).not.toBe(folders.of('ada').split('/').at(-1));
    });

    it('is the same for two processes that begin at once, and nothing else is left there', async () => {
      const parents = Array.from({ length: 600 }, (_, at) => join(folder, `raced-${at}`));
      for (const parent of parents) mkdirSync(parent);
      const script = join(import.meta.dirname, 'support/folder-of.ts');
      const args = [script, 'ada', String(Date.now() + 1_500), '2', ...parents];
      const told = await Promise.all([run(process.execPath, args), run(process.execPath, args)]);
      const [first, second] = told.map(({ stdout }) => stdout.trim().split('\n'));
      expect(first).toHaveLength(parents.length);
      expect(second).toEqual(first);
      for (const parent of parents) expect(readdirSync(parent)).toHaveLength(2);
    });

    it('is made for nobody where the key is not whole: the folders of all would be others', () => {
      const parent = join(folder, 'torn');
      createAccountFolders(parent);
      truncateSync(join(parent, 'key'), 5);
      expect(() => createAccountFolders(parent)).toThrow(/torn\/key is not whole: put it back from a backup/);
    });
  });
});
