import { describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import {
  describeClientChanges,
  describeClientDocuments,
  describeClients,
  describeInvitations,
} from '../../contract/clients.ts';
import { openForTest, payload, startOfTime } from '../../contract/subject.ts';
import { openNewDatabase, usePostgres } from '../subject.ts';

const server = usePostgres();

describe('PostgreSQL', () => describeClients(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeClientChanges(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeClientDocuments(() => openNewDatabase(server())));

describe('PostgreSQL', () => describeInvitations(() => openNewDatabase(server())));

describe('PostgreSQL', () => {
  it('keeps no more unused clients than it may at any time, whichever node registers them (T-061)', async () => {
    const url = await server().createDatabase();
    const first = await openForTest(() => openPostgresStorage({ url }));
    const second = await openForTest(() => openPostgresStorage({ url }));
    const put = (id: string, at: number) =>
      ({
        type: 'putClient',
        client: { id, payload: payload(id), createdAt: startOfTime + at },
        maxUnused: 500,
      }) as const;
    await first.artifacts.commit(Array.from({ length: 490 }, (_, at) => put(`early ${at}`, at)));
    const kept: number[] = [];
    for (let at = 490; at < 530; at++) {
      const node = at % 2 === 0 ? first : second;
      expect(await node.artifacts.commit([put(`late ${at}`, at)])).toEqual({ committed: true });
      kept.push((await second.clients.list()).length);
    }
    expect(Math.max(...kept)).toBe(500);
    expect((await first.clients.find('late 529'))?.createdAt).toBe(startOfTime + 529);
  });
});
