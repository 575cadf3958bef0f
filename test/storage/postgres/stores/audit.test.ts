import { describe, expect, it, onTestFinished } from 'vitest';
import { generateKeySet } from '../../../../src/crypto/key-schedule.ts';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { describeAudit } from '../../contract/audit.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeAudit(() => openNewDatabase(server())));

describe('the audit log of several nodes', () => {
  it('is one chain without a gap, however many write at once', async () => {
    const url = await server().createDatabase();
    const keys = await generateKeySet();
    const nodes = await Promise.all([1, 2, 3].map(() => openPostgresStorage({ url }, keys)));
    onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.close()))));
    await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        nodes[index % 3]?.audit.append([{ at: index, event: 'counted', details: { index: String(index) } }]),
      ),
    );
    const rows = (await nodes[0]?.audit.read({ limit: 1_000 })) ?? [];
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    expect(rows.every((row, index) => row.previous === (rows[index - 1]?.hash ?? ''))).toBe(true);
    expect(await nodes[1]?.audit.ends()).toMatchObject({ head: { seq: 300, hash: rows.at(-1)?.hash } });
  });

  it('takes details with characters that PostgreSQL cannot hold, and finds them', async () => {
    const storage = await openNewDatabase(server());
    onTestFinished(() => storage.close());
    await storage.audit.append([{ at: 1, event: 'client.added', details: { clientId: 'a\0b' } }]);
    expect(await storage.audit.read({ clientId: 'a\0b', limit: 10 })).toHaveLength(1);
  });
});
