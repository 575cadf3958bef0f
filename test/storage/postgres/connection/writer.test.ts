import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ChangeMarks,
  watchChangeMarks,
} from '../../../../src/storage/postgres/connection/change-marks.ts';
import { type Database, openPool } from '../../../../src/storage/postgres/connection/database.ts';
import { migrate } from '../../../../src/storage/postgres/connection/migrate.ts';
import { createWriter, type Writer } from '../../../../src/storage/postgres/connection/writer.ts';
import { StorageUnavailable } from '../../../../src/storage/storage.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';

const server = usePostgres({ isOwn: true });

interface Node {
  db: Database;
  marks: ChangeMarks;
  writer: Writer;
}

/** Opens connections of a node to a database. */
async function openNode(url: string): Promise<Node> {
  const db = openPool({ url });
  const marks = await watchChangeMarks(db);
  const writer = createWriter({ url }, marks);
  onTestFinished(async () => {
    await writer.close();
    marks.close();
    await db.close();
  });
  return { db, marks, writer };
}

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase();
  await migrate({ url });
  return url;
}

const insert = "INSERT INTO accounts (id, email, password_hash, created_at) VALUES ($1, $1, '', 0)";

function add({ writer }: Pick<Node, 'writer'>, id: string): Promise<number> {
  return writer.write((tx) => tx.run(insert, [id]), { inOneFlight: true });
}

async function idsIn({ db }: Node): Promise<string[]> {
  return (await db.rows<{ id: string }>('SELECT id FROM accounts ORDER BY id')).map(({ id }) => id);
}

async function commitsIn({ db }: Node): Promise<number> {
  return (await db.row<{ commits: number }>('SELECT commits FROM commit_order'))?.commits ?? 0;
}

describe('writes', () => {
  it('that arrive together share a commit, and each gets its own result', async () => {
    const node = await openNode(await newDatabase());
    const before = await commitsIn(node);
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        node.writer.write(
          async (tx) => {
            const added = tx.run(insert, [`account ${index}`]);
            return (await added) + index;
          },
          { inOneFlight: true },
        ),
      ),
    );
    expect(results).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    expect((await commitsIn(node)) - before).toBeLessThanOrEqual(2);
  });

  it('that fail leave those alone that arrive with them, whether they go in one flight or not (T-164)', async () => {
    const node = await openNode(await newDatabase());
    await add(node, 'taken');
    for (const inOneFlight of [true, false]) {
      const write = (id: string) => node.writer.write((tx) => tx.run(insert, [id]), { inOneFlight });
      const results = await Promise.allSettled([
        write(`one ${inOneFlight}`),
        write('taken'),
        write(`two ${inOneFlight}`),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    }
    expect(await idsIn(node)).toEqual(['one false', 'one true', 'taken', 'two false', 'two true']);
  });

  it('of several nodes run one after another: a count that was read is still true at the insert', async () => {
    const url = await newDatabase();
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)]);
    const addBelow = ({ writer }: Node, id: string) =>
      writer.write(async (tx) => {
        const found = await tx.row<{ count: number }>('SELECT count(*) AS count FROM accounts');
        await sleep(1);
        return (found?.count ?? 0) < 5 ? tx.run(insert, [id]) : 0;
      });
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => addBelow(nodes[index % 3] as Node, String(index))),
    );
    expect(added.filter((rows) => rows === 1)).toHaveLength(5);
    expect(await idsIn(nodes[0] as Node)).toHaveLength(5);
  });

  it('gather what they leave for the end of the transaction, of successful ones alone, with what was read before', async () => {
    const node = await openNode(await newDatabase());
    const seen: unknown[] = [];
    const leave = node.writer.gather<string, number>({
      read: async (tx) =>
        (await tx.row<{ count: number }>('SELECT count(*) AS count FROM accounts'))?.count ?? 0,
      finish: (tx, left, read) => {
        seen.push([read, ...left]);
        tx.send(insert, [`end of ${left.join(' ')}`]);
      },
    });
    const write = (id: string, fails = false) =>
      node.writer.write(
        async (tx) => {
          leave(id);
          await tx.run(insert, [id]);
          if (fails) throw new Error('refused');
        },
        { inOneFlight: true },
      );
    await Promise.all([write('a'), write('b')]);
    await Promise.allSettled([write('c'), write('d', true)]);
    expect(seen).toEqual([
      [0, 'a', 'b'],
      [4, 'c'],
    ]);
    expect(await idsIn(node)).toEqual(['a', 'b', 'c', 'end of a b', 'end of c']);
  });

  it('wait for a node that stalls in its transaction for two seconds, and go on without it', async () => {
    const url = await newDatabase();
    const [stalling, other] = await Promise.all([openNode(url), openNode(url)]);
    const stalled = stalling.writer.write(async (tx) => {
      await tx.run(insert, ['stalled']);
      await sleep(4_000);
      return tx.run(insert, ['too late']);
    });
    const refused = expect(stalled).rejects.toThrow(StorageUnavailable);
    await sleep(300);
    const begun = performance.now();
    await add(other, 'other');
    expect(performance.now() - begun).toBeLessThan(4_000);
    await refused;
    expect(await idsIn(other)).toEqual(['other']);
    await add(stalling, 'again');
  });

  it('are neither lost nor made twice if the server crashes again and again, and go on by themselves (T-166)', async () => {
    const node = await openNode(await newDatabase());
    const acknowledged: string[] = [];
    const failed: string[] = [];
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let index = 0; !isOver; index++) {
          const id = `${worker} ${index}`;
          await add(node, id).then(
            () => acknowledged.push(id),
            async (error: unknown) => {
              expect(error).toBeInstanceOf(StorageUnavailable);
              // A server that takes long to recover cannot say in time if its last commit was made.
              if (!(error as Error).message.endsWith('is not known')) failed.push(id);
              await sleep(20);
            },
          );
        }
      }),
    );
    for (let crash = 0; crash < 3; crash++) {
      await sleep(400);
      await server().crash();
    }
    await sleep(400);
    isOver = true;
    await load;
    const stored = new Set(await idsIn(node));
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    expect(failed.filter((id) => stored.has(id))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(50);
  });

  it('that wait while the server is away fail together, and not one lot after the other', async () => {
    const node = await openNode(await newDatabase());
    await server().stop();
    const begun = performance.now();
    const results = await Promise.allSettled(
      Array.from({ length: 350 }, (_, index) => add(node, `waiting ${index}`)),
    );
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(performance.now() - begun).toBeLessThan(10_000);
    await server().start();
    await add(node, 'after');
    expect(await idsIn(node)).toEqual(['after']);
  });

  it('leave no rejection to nobody if their connections are cut again and again', async () => {
    const node = await openNode(await newDatabase());
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    let isOver = false;
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, worker) => {
        for (let index = 0; !isOver; index++)
          await node.writer
            .write(async (tx) => {
              const first = tx.run(insert, [`cut ${worker} ${index}`]);
              const second = tx.run('UPDATE accounts SET password_hash = $1 WHERE id = $1', ['nobody']);
              await first;
              await second;
            })
            .catch(() => undefined);
      }),
    );
    for (let cuts = 0; cuts < 40; cuts++) {
      await sleep(40);
      await server().query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'gatehouse/%'",
      );
    }
    isOver = true;
    await load;
    expect(unhandled).toEqual([]);
  });

  it('are known as made or not made if only the answer of their commit is lost', async () => {
    const node = await openNode(await newDatabase());
    const results: boolean[] = [];
    for (let round = 0; round < 20; round++) {
      const saying = add(node, `round ${round}`).then(
        () => true,
        () => false,
      );
      await sleep(round / 4);
      await server().query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name LIKE 'gatehouse/%' AND query ~ 'BEGIN|INSERT|COMMIT'`,
      );
      const isSaid = await saying;
      results.push(isSaid === (await idsIn(node)).includes(`round ${round}`));
    }
    expect(results).toEqual(Array.from({ length: 20 }, () => true));
  });
});
