// Flows of docs/postgresql.md: the statements and programs that it names, as an operator runs them. What a recovery ends
// (src/storage/copied-tables.ts) is the same on both databases.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { SealingKey } from '../../../src/crypto/sealed-box.ts';
import type { CopySource, CopyTarget } from '../../../src/storage/copied-tables.ts';
import { copyInstallation } from '../../../src/storage/copy.ts';
import * as postgres from '../../../src/storage/postgres/index.ts';
import { generateMasterKey, parseMasterKey } from '../../../src/storage/postgres/open-installation.ts';
import { revokeAll } from '../../../src/storage/sqlite/data-folder/restore-revocations.ts';
import * as sqlite from '../../../src/storage/sqlite/index.ts';
import { testFolder } from '../../client/support/folder.ts';
import { fillInstallation, readInstallation, withDatabase } from '../../storage/filled-installation.ts';
import { connectTo } from '../../storage/postgres/subject.ts';
import { findPostgres } from '../../support/postgres/find-postgres.ts';
import { usePostgres } from '../../support/postgres/postgres.ts';
import { repository } from '../../support/program.ts';
import { runGatehouse } from '../../support/served.ts';

const server = usePostgres();

const key = parseMasterKey(generateMasterKey()) as SealingKey;
const at = (url: string): postgres.CopyPlace => ({ url, masterKey: async () => key });

/** Returns the SQL examples of the page. */
async function statements(): Promise<string[]> {
  const page = await readFile(join(repository, 'docs/postgresql.md'), 'utf8');
  return [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, sql = '']) => sql);
}

/** Writes the config file of an installation in a database, and returns its path. */
function configOf(url: string): string {
  const folder = testFolder();
  writeFileSync(join(folder, 'master-key'), key.key, { mode: 0o600 });
  const config = join(folder, 'gatehouse.json');
  const storage = { postgres: url, masterKey: { file: 'master-key' } };
  writeFileSync(config, JSON.stringify({ storage }));
  return config;
}

async function run(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(join(findPostgres() ?? '', program), args);
}

async function copy(source: CopySource, target: CopyTarget): Promise<void> {
  await copyInstallation(source, target, { moves: true, now: Math.floor(Date.now() / 1000) });
  await target.close();
  await source.close();
}

describe('docs/postgresql.md', () => {
  it('creates a role that suffices, and ends what a dump had issued, as gatehouse restore does (T-173)', async () => {
    const [create = ''] = await statements();
    const database = await server().createDatabase();
    // The server of the tests has a role of the name on the page already.
    const name = `named_${new URL(database).pathname.slice(1)}`;
    const admin = await connectTo(database);
    for (const statement of create.replaceAll('gatehouse', name).split(';\n'))
      if (statement.trim() !== '') await admin.query(statement);
    const url = `postgres://${name}@${new URL(database).host}/${name}`;

    const folder = join(testFolder(), 'data');
    await fillInstallation(folder);
    await copy(sqlite.openCopySource(folder), await postgres.openCopyTarget(at(url)));
    const dump = join(testFolder(), 'gatehouse.dump');
    await run('pg_dump', '--format=custom', `--file=${dump}`, url);
    const restored = await server().createDatabase();
    await run('pg_restore', '--no-owner', `--dbname=${restored}`, dump);
    const recovered = await runGatehouse(['storage', 'recovered', '--config', configOf(restored)]);
    expect(recovered.stderr).toBe('');
    expect(recovered.stdout).toContain('All consents, tokens and logins have ended');

    const back = join(testFolder(), 'back');
    await copy(await postgres.openCopySource(at(restored)), sqlite.openCopyTarget(back));
    withDatabase(folder, revokeAll);
    const { audit, audit_ends: ends, ...left } = readInstallation(back);
    const { audit: auditBefore, audit_ends: endsBefore, ...expected } = readInstallation(folder);
    expect(left).toEqual(expected);
    expect(audit?.slice(0, -1)).toEqual(auditBefore);
    expect(ends).not.toEqual(endsBefore);
    expect(left).toMatchObject({ artifacts: [], grants: [], mcp_sessions: [], invitations: [] });
    expect(left.accounts).toHaveLength(2);
  });
});
