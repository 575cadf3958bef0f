import { describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { describeArtifacts, describeLiveGrants } from '../../contract/artifacts.ts';
import { account, artifact, grant, startOfTime } from '../../contract/subject.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

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
