import { describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { artifact, grant, openForTest, startOfTime } from '../../contract/subject.ts';
import { commit, putBound } from '../../contract/upstream.ts';
import { describeUpstreamRevocations, describeUpstreams } from '../../contract/upstreams.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => {
  describeUpstreams(() => openNewDatabase(server()));

  it('has each generation of tokens refreshed by one of several nodes (A10-02)', async () => {
    const url = await server().createDatabase();
    const nodes = await Promise.all([1, 2, 3].map(() => openForTest(() => openPostgresStorage({ url }))));
    const [first] = nodes;
    if (!first) throw new Error('there is no node');
    await putBound(first);
    const id = 'link of ada';
    const last = 20;
    const refreshed = await Promise.all(
      nodes.map(async ({ upstreams }) => {
        const generations: number[] = [];
        for (;;) {
          const generation = (await upstreams.find(id))?.generation ?? last;
          if (generation >= last) return generations;
          if (!(await upstreams.claimRefresh(id, generation, startOfTime, 30))) continue;
          generations.push(generation);
          const tokens = Buffer.from(`tokens ${generation + 1}`);
          const fresh = { upstream: 'idp', accountId: 'ada', tokens, provedAt: startOfTime };
          expect(await upstreams.putTokens(id, generation, fresh)).toBe(true);
        }
      }),
    );
    const inOrder = refreshed.flat().sort((a, b) => a - b);
    expect(inOrder).toEqual(Array.from({ length: last - 1 }, (_, n) => n + 1));
  });

  it('finds the bond of a token that another node bound, once it knows of the first login there (A10-02)', async () => {
    const url = await server().createDatabase();
    const [one, other] = await Promise.all([1, 2].map(() => openForTest(() => openPostgresStorage({ url }))));
    if (!one || !other) throw new Error('there is no node');
    expect(await other.upstreams.bondOfArtifact('RefreshToken', 'bound')).toBeUndefined();
    await putBound(one);
    await commit(one, grant('free'), artifact('bound', { grantId: 'grant of ada' }));
    const bond = { sessionId: 'session of ada', linkId: 'link of ada' };
    expect(await one.upstreams.bondOfArtifact('RefreshToken', 'bound')).toEqual(bond);
    await expect.poll(() => other.upstreams.bondOfArtifact('RefreshToken', 'bound')).toEqual(bond);
  });
});

describe('PostgreSQL', () => describeUpstreamRevocations(() => openNewDatabase(server())));
