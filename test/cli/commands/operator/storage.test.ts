import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { type CliError, exitCodes } from '../../../../src/cli/cli-error.ts';
import { registerAccount } from '../../../../src/cli/commands/operator/account.ts';
import { registerAudit } from '../../../../src/cli/commands/operator/audit.ts';
import { registerStorage } from '../../../../src/cli/commands/operator/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { withDatabase } from '../../../storage/filled-installation.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';
import { testIo } from '../../support/client-commands.ts';
import { newInstallation } from '../../support/installation.ts';
import { runCommand } from '../../support/operator.ts';

const server = usePostgres();

/** Writes a config file that names a new database, with its data folder beside it. */
async function configOfPostgres(): Promise<string> {
  const file = join(testFolder(), 'gatehouse.json');
  writeFileSync(
    file,
    JSON.stringify({ data: 'node', storage: { postgres: await server().createDatabase() } }),
  );
  return file;
}

const copy = (from: string, to: string, ...more: string[]) =>
  runCommand(registerStorage, ['storage', 'copy', '--from', from, '--to', to, ...more]);

describe('gatehouse storage copy', () => {
  it('moves a folder to the database of a config file and back, and says where to go on', async () => {
    const data = await newInstallation();
    const config = await configOfPostgres();
    const there = await copy(data, config);
    expect(there.error).toBeUndefined();
    expect(there.stdout).toMatch(
      /^Copied \d+ rows in 29 tables, and the keys, from the data folder \S+ to the PostgreSQL database test_\w+ at 127\.0\.0\.1:\d+\. Both are equal\.\nServers refuse the data folder \S+ from now on\. /,
    );
    expect(statSync(join(config, '../node/gatehouse.master-key')).mode & 0o777).toBe(0o600);
    const listed = await runCommand(registerAccount, ['account', 'list', '--config', config]);
    expect(listed.stdout).toContain('ada@example.com');
    const noted = await runCommand(registerAudit, ['audit', 'list', '--config', config]);
    expect(noted.stdout).toMatch(/installation\.copied .*the data folder/);
    const left = await runCommand(registerAccount, ['account', 'list', '--data', data]);
    expect(String(left.error)).toContain('This installation has moved to the PostgreSQL database');

    const back = join(testFolder(), 'back');
    const { stdout } = await copy(config, back, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      from: expect.stringMatching(/^the PostgreSQL database/),
      to: `the data folder ${back}`,
      sourceMoved: true,
      rows: expect.any(Number),
      tables: expect.arrayContaining([
        { name: 'accounts', rows: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ]),
      auditFaults: 0,
    });
    const again = await runCommand(registerAccount, ['account', 'list', '--data', back]);
    expect(again.stdout).toContain('ada@example.com');
  });

  it('keeps the source for a trial, and warns of both', async () => {
    const data = await newInstallation();
    const { stdout } = await copy(data, await configOfPostgres(), '--keep-source');
    expect(stdout).toContain(`Servers can still use the data folder ${data}. Do not run both for users`);
    const listed = await runCommand(registerAccount, ['account', 'list', '--data', data]);
    expect(listed.error).toBeUndefined();
  });

  it('shows its progress on a terminal', async () => {
    const { io, written } = testIo();
    const stderr = { ...io.stderr, isTTY: true, columns: 120 };
    const program = new Command().exitOverride();
    registerStorage(program, { ...io, stderr });
    const places = ['--from', await newInstallation(), '--to', await configOfPostgres()];
    await program.parseAsync(['node', 'gatehouse', 'storage', 'copy', ...places]);
    expect(written.stderr).toMatch(/Copying artifacts: \d+ of \d+ rows/);
    expect(written.stderr).toMatch(/Checking the copy of notes: \d+ of \d+ rows/);
    expect(written.stderr.endsWith('\r\u001b[2K')).toBe(true);
  });

  it('refuses two places of one kind, a folder and itself included', async () => {
    const data = await newInstallation();
    const config = await configOfPostgres();
    for (const [from, to, why] of [
      [data, data, 'Both places are on SQLite'],
      [data, join(testFolder(), 'other'), 'Both places are on SQLite'],
      [config, config, 'Both places are on PostgreSQL'],
    ] as const) {
      const { error } = await copy(from, to);
      expect((error as CliError).message).toContain(why);
      expect((error as CliError).exitCode).toBe(exitCodes.usage);
    }
  });

  it('refuses a config file that does not exist, and creates no folder of its name', async () => {
    const missing = join(testFolder(), 'gatehouse.json');
    const { error } = await copy(await newInstallation(), missing);
    expect(String(error)).toContain('there is no such file');
    expect(existsSync(missing)).toBe(false);
  });

  it('refuses a database that has an installation, and leaves both as they were', async () => {
    const [data, other] = [await newInstallation(), await newInstallation()];
    const config = await configOfPostgres();
    await copy(data, config);
    const { error, stdout } = await copy(other, config);
    expect(String(error)).toContain('There is an installation in the PostgreSQL database');
    expect(stdout).toBe('');
    const listed = await runCommand(registerAccount, ['account', 'list', '--data', other]);
    expect(listed.error).toBeUndefined();
  });

  it('ends with exit code 8 if the audit log was changed before, after the copy is complete', async () => {
    const data = await newInstallation();
    withDatabase(data, (db) => db.exec("UPDATE audit SET event = 'other'"));
    const config = await configOfPostgres();
    const { error, stdout } = await copy(data, config);
    expect(stdout).toContain('Both are equal.');
    expect(error).toMatchObject({
      exitCode: exitCodes.faultsFound,
      message: expect.stringMatching(/^The copy is complete\. The audit log has \d+ fault/),
      hint: expect.stringContaining(`audit verify --config ${config}`),
    });
  });
});

describe('gatehouse storage recovered', () => {
  const recovered = (config: string, ...more: string[]) =>
    runCommand(registerStorage, ['storage', 'recovered', '--config', config, ...more]);

  it('says how old the database is, and that everybody must log in again, and the audit log explains an older head', async () => {
    const config = await configOfPostgres();
    await copy(await newInstallation(), config);
    const { error, stdout } = await recovered(config);
    expect(error).toBeUndefined();
    expect(stdout).toMatch(
      /^The last event in this database is of \d{4}-\S+Z\.\nAll consents, tokens and logins have ended: everybody must log in again\./,
    );
    const noted = await runCommand(registerAudit, ['audit', 'list', '--config', config, '--json']);
    expect(noted.stdout).toContain('"keptLogins": "false"');
    const lost = `9:${'A'.repeat(43)}`;
    const verified = await runCommand(registerAudit, ['audit', 'verify', '--config', config, '--head', lost]);
    expect(verified.stdout).toContain('is the restore of a backup of');
  });

  it('keeps logins if the database has all that was acknowledged', async () => {
    const config = await configOfPostgres();
    await copy(await newInstallation(), config);
    const { stdout } = await recovered(config, '--keep-logins', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ keptLogins: true, asOf: expect.any(Number) });
  });

  it('refuses an empty database, and an installation on SQLite', async () => {
    const empty = await recovered(await configOfPostgres());
    expect(String(empty.error)).toContain('There is no installation in the PostgreSQL database');
    const onSqlite = join(testFolder(), 'gatehouse.json');
    writeFileSync(onSqlite, '{}');
    expect((await recovered(onSqlite)).error).toMatchObject({
      message: 'This installation is on SQLite.',
      exitCode: exitCodes.usage,
    });
  });
});
