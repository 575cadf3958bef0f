import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type StorageSettings, storageSettings } from '../../../src/settings/storage.ts';
import {
  generateMasterKey,
  masterKeyFile,
  openPostgresInstallation,
} from '../../../src/storage/postgres/open-installation.ts';
import { testFolder } from '../../client/support/folder.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';

const server = usePostgres();

async function open(
  settings: Partial<StorageSettings>,
  { data = testFolder(), env = {} }: { data?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const installation = await openPostgresInstallation(
    { ...storageSettings.parse({}), ...settings },
    data,
    env,
  );
  onTestFinished(() => installation.storage.close());
  return installation;
}

describe('an installation on PostgreSQL', () => {
  it('makes its master key at the first start, which the next node needs a copy of', async () => {
    const postgres = await server().createDatabase();
    const [first, second] = [join(testFolder(), 'data'), join(testFolder(), 'data')];
    const { keys } = await open({ postgres }, { data: first });
    const file = join(first, masterKeyFile);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await expect(open({ postgres }, { data: second })).rejects.toThrow(
      `Copy ${masterKeyFile} from the data folder of another node to ${second}`,
    );
    expect(existsSync(second)).toBe(false);
    const copied = { env: 'MASTER_KEY' };
    const env = { MASTER_KEY: readFileSync(file, 'utf8') };
    expect((await open({ postgres, masterKey: copied }, { data: second, env })).keys).toEqual(keys);
  });

  it('takes its URL and master key from variables, files and the output of a program', async () => {
    const url = await server().createDatabase();
    const folder = testFolder();
    const [urlFile, keyFile] = [join(folder, 'url'), join(folder, 'key')];
    writeFileSync(urlFile, `${url}\n`, { mode: 0o600 });
    writeFileSync(keyFile, generateMasterKey(), { mode: 0o600 });
    const masterKey = {
      command: [process.execPath, '-p', `fs.readFileSync(${JSON.stringify(keyFile)}, 'utf8')`],
    };
    const made = await open({ postgres: { file: urlFile }, masterKey });
    const found = await open(
      { postgres: { env: 'URL' }, masterKey: { file: keyFile } },
      { env: { URL: url } },
    );
    expect(found.keys).toEqual(made.keys);
  });

  it('is not opened with a secret that is missing, open to others or no key, and the fault quotes none of it (T-163)', async () => {
    const postgres = await server().createDatabase();
    const file = join(testFolder(), 'key');
    writeFileSync(file, 'correct-horse', { mode: 0o644 });
    await expect(open({ postgres: { env: 'NOWHERE' } })).rejects.toThrow('the variable NOWHERE is not set');
    const [key, url] = [generateMasterKey(), 'postgres://gatehouse:secret@db/gatehouse'];
    await expect(open({ postgres, masterKey: { env: key } })).rejects.toThrow(
      /^storage\.masterKey: env takes the name of a variable, and not its value\.$/,
    );
    await expect(open({ postgres: { env: url } })).rejects.toThrow(/^storage\.postgres: env takes the name/);
    await expect(open({ postgres, masterKey: { file } })).rejects.toThrow(
      /can be read by others \(mode 644\)/,
    );
    chmodSync(file, 0o600);
    for (const masterKey of [{ file }, { command: ['echo', 'correct-horse'] }])
      await expect(open({ postgres, masterKey })).rejects.toThrow(/^The master key must be 32 random bytes/);
    await expect(open({ postgres, masterKey: { command: ['false', 'correct-horse'] } })).rejects.toThrow(
      /^storage\.masterKey: the command false failed \(1\)\.$/,
    );
  });
});
