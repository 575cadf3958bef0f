import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateKeySet, generateSealingKey } from '../../../../src/crypto/key-schedule.ts';
import { createSealedBox } from '../../../../src/crypto/sealed-box.ts';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { sealedColumns } from '../../../../src/storage/sealed-columns.ts';
import { session, wide } from '../../contract/mcp-session.ts';
import { describeSealedRows, notSealed } from '../../contract/sealed-rows.ts';
import { openForTest, startOfTime } from '../../contract/subject.ts';
import { usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => {
  describeSealedRows(async (keys) => openPostgresStorage({ url: await server().createDatabase() }, keys));

  it('The texts of MCP sessions are sealed anew for the session, stream and position they belong to (T-179)', async () => {
    const keys = await generateKeySet();
    const url = await server().createDatabase();
    const { mcpSessions, sealedRows } = await openForTest(() => openPostgresStorage({ url }, keys));
    const old = createSealedBox(keys.sealing);
    const contexts = {
      initialize: JSON.stringify(['initialize', 'k']),
      event: JSON.stringify(['event', 'k', 's', 7]),
    };
    const sealText = (text: string, context: string) =>
      Buffer.from(old.seal(text, context)).toString('base64url');
    await mcpSessions.open(session('k', { initialize: sealText('{}', contexts.initialize) }), wide);
    const event = { stream: 's', position: 7, data: sealText('"said"', contexts.event) };
    await mcpSessions.append('k', [event], { maxEvents: 9, maxBytes: 9_999 }, startOfTime);
    const fresh = generateSealingKey();
    const later = createSealedBox([fresh]);
    await sealedRows.reseal(keys.sealing[0]?.id ?? '', (sealed, context) =>
      later.seal(old.open(sealed, context), context),
    );
    expect([...(await sealedRows.countByKey())]).toEqual([[fresh.id, 3]]);
    const open = (text = '', context = '') => later.open(Buffer.from(text, 'base64url'), context);
    expect(open((await mcpSessions.find('k'))?.initialize, contexts.initialize)).toBe('{}');
    const resumed = await mcpSessions.resume('k', 's', 0);
    expect(open(resumed?.events[0]?.data, contexts.event)).toBe('"said"');
  });
});

describe('sealed columns', () => {
  it('are every column of bytes in the schema, but for those that are named (T-179)', async () => {
    const url = await server().createDatabase();
    await openForTest(() => openPostgresStorage({ url }));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    const found = await client.query<{ name: string }>(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       WHERE table_schema = current_schema() AND data_type = 'bytea'`,
    );
    // The keys of the installation are sealed under the master key, which is rotated otherwise; kept arguments of calls
    // under a key that does not rotate.
    const listed = sealedColumns
      .filter(({ form }) => form === 'bytes')
      .map(({ table, column }) => `${table}.${column}`);
    expect(found.rows.map(({ name }) => name).sort()).toEqual(
      [...listed, ...notSealed, 'key_schedule.sealed', 'calls.arguments'].sort(),
    );
  });
});
