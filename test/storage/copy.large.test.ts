import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CopiedInstallation } from '../../src/storage/copy.ts';
import { openDataFolder } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';
import { usePostgres } from '../support/postgres/postgres.ts';
import { runProgram } from '../support/program.ts';
import { commandLine } from '../support/served.ts';
import { withDatabase } from './filled-installation.ts';

const server = usePostgres();

/** Number of accounts; each has a grant and ten artifacts. */
const accounts = Number(process.env.GATEHOUSE_COPIED_ACCOUNTS ?? 10_000);

/** Has a program write its largest memory, in KiB, as it ends. */
const measuring = `--import=data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => process.stderr.write('maxRSS ' + process.resourceUsage().maxRSS))",
)}`;

const fill = (count: number): string => `
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO accounts SELECT 'account ' || i, i || '@example.com', hex(randomblob(48)), i, NULL FROM n;
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO grants (id, account_id, client_id, payload, expires_at)
      SELECT hex(randomblob(16)), 'account ' || i, 'client ' || i % 100, randomblob(200), 9999999999 FROM n;
  WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count} * 10 - 1)
    INSERT INTO artifacts (id, kind, grant_number, account_id, client_id, payload, expires_at)
      SELECT hex(randomblob(16)), 'RefreshToken', i / 10 + 1, 'account ' || (i / 10 + 1), 'client ' || i % 100,
        randomblob(400), 9999999999 FROM n;`;

interface Measured {
  tables: CopiedInstallation['tables'];
  seconds: number;
  megabytes: number;
}

/** Runs the command and measures it. */
async function copy(from: string, to: string): Promise<Measured> {
  const begun = performance.now();
  const program = runProgram(commandLine, ['storage', 'copy', '--from', from, '--to', to, '--json'], {
    input: '',
    env: { NODE_OPTIONS: measuring },
  });
  const code = await program.ended;
  const { stdout, stderr } = program.written;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^maxRSS \d+$/)]);
  const { tables } = JSON.parse(stdout) as CopiedInstallation;
  return {
    tables,
    seconds: Math.round((performance.now() - begun) / 100) / 10,
    megabytes: Math.round(Number(stderr.slice(7)) / 1024),
  };
}

describe('a large installation', () => {
  it('moves to PostgreSQL and back, equal and in bounded memory', { timeout: 7_200_000 }, async () => {
    const [data, back] = [join(testFolder(), 'data'), join(testFolder(), 'back')];
    await (await openDataFolder(data)).storage.close();
    withDatabase(data, (db) => db.exec(fill(accounts)));
    const node = testFolder();
    const config = join(node, 'gatehouse.json');
    writeFileSync(config, JSON.stringify({ storage: { postgres: await server().createDatabase() } }));

    const there = await copy(data, config);
    const here = await copy(config, back);
    // The audit log of the first copy notes that copy.
    const isAudit = ({ name }: { name: string }): boolean => name.startsWith('audit');
    expect(here.tables.filter((table) => !isAudit(table))).toEqual(
      there.tables.filter((table) => !isAudit(table)),
    );
    expect(here.tables.filter(isAudit).map(({ rows }) => rows)).toEqual([1, 1]);
    expect(there.tables.filter(isAudit).map(({ rows }) => rows)).toEqual([0, 0]);
    expect(there.tables.find(({ name }) => name === 'artifacts')?.rows).toBe(accounts * 10);
    const bytes = statSync(join(data, 'gatehouse.db')).size;
    process.stdout.write(
      `${accounts} accounts, ${accounts * 10} artifacts, ${Math.round(bytes / 1e6)} MB: to PostgreSQL ${there.seconds} s and ${there.megabytes} MiB, back ${here.seconds} s and ${here.megabytes} MiB\n`,
    );
    // The rows alone have more from 100,000 accounts on.
    for (const { megabytes } of [there, here]) expect(megabytes).toBeLessThan(400);
  });
});
