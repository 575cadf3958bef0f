import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAccountFolders } from '../../../src/gateway/backends/account-folders.ts';
import { testFolderForFile } from '../../support/folder.ts';

const folder = testFolderForFile();

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
});
