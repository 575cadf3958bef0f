import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import { describeArtifacts, describeLiveGrants } from '../../contract/artifacts.ts';
import { account, artifact, grant, openForTest, payload, startOfTime } from '../../contract/subject.ts';
import { connectTo, openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeArtifacts(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeLiveGrants(() => openNewDatabase(server())));

async function openNodes() {
  const url = await server().createDatabase();
  const nodes = await Promise.all([1, 2].map(() => openPostgresStorage({ url })));
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.close()))));
  const [here, there] = nodes;
  if (!here || !there) throw new Error('there are two nodes');
  await here.accounts.add(account('ada'));
  return { here, there };
}

describe('artifacts of two nodes', () => {
  it.each([2, 5, 20, 50])('are used once, if %i requests use each at once (T-036, T-043)', async (times) => {
    const { here, there } = await openNodes();
    await here.artifacts.commit([grant('g')]);
    for (let round = 0; round < 10; round++) {
      const id = `t${round}`;
      await here.artifacts.commit([artifact(id, { grantId: 'g' })]);
      const outcomes = await Promise.all(
        Array.from({ length: times }, (_, index) =>
          (index % 2 === 0 ? here : there).artifacts.commit([
            { type: 'consume', kind: 'RefreshToken', id, at: startOfTime },
            artifact(`${id} ${index}`, { grantId: 'g' }),
          ]),
        ),
      );
      expect(outcomes.filter(({ committed }) => committed)).toHaveLength(1);
    }
    expect(await here.artifacts.findGrant('g')).toBeDefined();
  });

  it('that one node wrote are found by the other at once, and are gone from its memory within a second (T-103)', async () => {
    const { here, there } = await openNodes();
    await here.artifacts.commit([grant('g'), artifact('t', { grantId: 'g' })]);
    expect(await there.artifacts.find('RefreshToken', 't')).toMatchObject({ id: 't' });
    await there.artifacts.revokeGrant('g');
    await expect
      .poll(() => here.artifacts.find('RefreshToken', 't'), { timeout: 1_000, interval: 10 })
      .toBeUndefined();
    await expect.poll(() => here.artifacts.findGrant('g'), { timeout: 1_000, interval: 10 }).toBeUndefined();
  });

  it('that are access tokens bring their account and client, which then are found without a query', async () => {
    const url = await server().createDatabase();
    const open = () => openForTest(() => openPostgresStorage({ url }));
    const one = await open();
    const kind = 'AccessToken';
    for (const id of ['ada', 'grace']) {
      await one.accounts.add({ ...account(id), disabledAt: startOfTime });
      await one.clients.put({ id: `client of ${id}`, payload: payload('\0 ä'), createdAt: startOfTime });
    }
    await one.artifacts.commit([
      grant('g', 'ada', 'client of ada'),
      artifact('of a grant', { kind, grantId: 'g' }),
      artifact('of a client', { kind, clientId: 'client of grace' }),
    ]);
    const read = async ({ accounts, clients }: Storage) =>
      Promise.all([
        ...['ada', 'grace'].map((id) => accounts.find(id)),
        ...['ada', 'grace'].map((id) => clients.find(`client of ${id}`)),
      ]);
    const rows = await read(one);
    expect(rows).toMatchObject([
      { id: 'ada' },
      { id: 'grace' },
      { usedAt: startOfTime },
      { status: 'approved' },
    ]);

    const other = await open();
    for (const id of ['of a grant', 'of a client']) await other.artifacts.findAccessToken(id);
    const client = await connectTo(url);
    // Changes without triggers: what was cached stays so.
    await client.query('SET session_replication_role = replica');
    await client.query("UPDATE accounts SET email = 'changed@example.com' WHERE id = 'ada'");
    await client.query("UPDATE clients SET payload = ''");
    await client.query("UPDATE accounts SET email = 'grace@other.example' WHERE id = 'grace'");
    const [ada, , ...clients] = rows;
    expect(await read(other)).toEqual([
      ada,
      expect.objectContaining({ email: 'grace@other.example' }),
      ...clients,
    ]);
  });

  it('of a grant that is revoked while it is refreshed are gone, whatever comes first, without a failure', async () => {
    const { here, there } = await openNodes();
    for (let round = 0; round < 30; round++) {
      await here.artifacts.commit([grant('g'), artifact('t', { grantId: 'g' })]);
      const refresh = there.artifacts.commit([
        { type: 'consume', kind: 'RefreshToken', id: 't', at: startOfTime },
        artifact('u', { grantId: 'g' }),
      ]);
      await Promise.all([refresh, here.artifacts.revokeGrant('g')]);
      for (const id of ['t', 'u'])
        expect(await here.artifacts.filterPresent('RefreshToken', [id])).toEqual([]);
    }
  });
});
