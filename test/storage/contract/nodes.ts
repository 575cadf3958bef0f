import { describe, expect, it } from 'vitest';
import {
  leaseSeconds,
  messageBatchSize,
  messageSeconds,
  type NodeRow,
  type ReadMessages,
} from '../../../src/storage/nodes.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { session, wide } from './mcp-session.ts';
import { account, type OpenStorage, openForTest } from './subject.ts';

/** Settings of a node. */
export const settled = { settingsHash: 'like all', refusesFile: false };

const node = (id: string): NodeRow => ({
  ...{ id, address: `10.0.0.1:${id.length}`, version: '1', startedAt: 1 },
  ...settled,
});

/** What every storage does with the nodes of an installation. */
export function describeNodes(open: OpenStorage): void {
  describe('nodes', () => {
    async function start(...keys: string[]): Promise<Storage> {
      const storage = await openForTest(open);
      for (const key of keys) await storage.mcpSessions.open(session(key), wide);
      return storage;
    }

    it('are alive from a beat until the end of their lease, or until they leave', async () => {
      const { nodes } = await start();
      await nodes.beat(node('a'));
      await nodes.beat({ ...node('b'), startedAt: 2 });
      expect(await nodes.list()).toEqual([node('a'), { ...node('b'), startedAt: 2 }]);
      await nodes.leave('a');
      expect((await nodes.list()).map(({ id }) => id)).toEqual(['b']);
      await expect
        .poll(() => nodes.list(), { timeout: leaseSeconds * 1000 + 3000, interval: 100 })
        .toEqual([]);
    });

    it('take a session that nobody has, and never one of another that is alive, whoever asks at once', async () => {
      const { nodes } = await start('s');
      for (const id of ['a', 'b', 'c']) await nodes.beat(node(id));
      const claims = await Promise.all(['a', 'b', 'c'].map((id) => nodes.claimSession('s', id)));
      expect(claims.sort()).toEqual(['claimed', 'taken', 'taken']);
      const owner = await nodes.ownerOf('s');
      expect(await nodes.claimSession('s', owner?.id ?? '')).toBe('claimed');
      expect(await nodes.claimSession('none', 'a')).toBe('missing');
      expect(await nodes.ownerOf('none')).toBeUndefined();
    });

    it('let go of a session that is theirs, and leave those of others alone', async () => {
      const { nodes } = await start('s', 't');
      for (const id of ['a', 'b']) await nodes.beat(node(id));
      await nodes.claimSession('s', 'a');
      await nodes.claimSession('t', 'b');
      await nodes.releaseSessions(['s', 't'], 'a');
      expect(await nodes.ownerOf('s')).toBeUndefined();
      expect((await nodes.ownerOf('t'))?.id).toBe('b');
      await nodes.leave('b');
      expect(await nodes.claimSession('t', 'a')).toBe('claimed');
    });

    it('are removed by the sweep a day after their last beat, and not before', async () => {
      const storage = await start('s');
      const { nodes } = storage;
      await nodes.beat(node('a'));
      const nowSeconds = Math.floor(Date.now() / 1000);
      expect(await storage.sweepExpired(nowSeconds)).toBe(0);
      expect(await nodes.list()).toEqual([node('a')]);
    });

    it('lose their sessions to others once their lease is over', async () => {
      const { nodes } = await start('s');
      await nodes.beat(node('dead'));
      await nodes.claimSession('s', 'dead');
      await nodes.beat(node('a'));
      expect(await nodes.claimSession('s', 'a')).toBe('taken');
      await expect
        .poll(() => nodes.claimSession('s', 'a'), { timeout: leaseSeconds * 1000 + 3000, interval: 100 })
        .toBe('claimed');
    });

    it('find out if their lease had ended: then a new one begins, and their sessions are free', async () => {
      const { nodes } = await start('s', 't');
      expect([await nodes.beat(node('a')), await nodes.beat(node('a'))]).toEqual([false, true]);
      for (const key of ['s', 't']) await nodes.claimSession(key, 'a');
      await expect
        .poll(() => nodes.list(), { timeout: leaseSeconds * 1000 + 3000, interval: 100 })
        .toEqual([]);
      await nodes.beat(node('b'));
      expect(await nodes.claimSession('s', 'b')).toBe('claimed');
      expect([await nodes.beat(node('a')), await nodes.beat(node('a'))]).toEqual([false, true]);
      expect((await nodes.ownerOf('s'))?.id).toBe('b');
      expect(await nodes.ownerOf('t')).toBeUndefined();
    });

    it('are listed to an operator with their settings and sessions, also after their lease', async () => {
      const { nodes } = await start('s', 't');
      await nodes.beat(node('a'));
      await nodes.claimSession('s', 'a');
      await nodes.claimSession('t', 'a');
      await nodes.beat({ ...node('b'), startedAt: 2 });
      await nodes.beat({ ...node('b'), startedAt: 2, settingsHash: 'other', refusesFile: true });
      const b = { ...node('b'), startedAt: 2, settingsHash: 'other', refusesFile: true, sessions: 0 };
      expect(await nodes.listAll()).toEqual([
        { ...node('a'), isAlive: true, sessions: 2 },
        { ...b, isAlive: true },
      ]);
      await nodes.leave('a');
      await expect
        .poll(() => nodes.listAll(), { timeout: leaseSeconds * 1000 + 3000, interval: 100 })
        .toEqual([{ ...b, isAlive: false }]);
    });
  });

  describe('messages of nodes', () => {
    const bytes = (text: string): Uint8Array => Buffer.from(text);
    const textsOf = ({ messages }: ReadMessages): string[] =>
      messages.map(({ payload }) => Buffer.from(payload).toString());

    it('are read by the others, in their order, once from each position', async () => {
      const { nodeMessages } = await openForTest(open);
      const start = await nodeMessages.lastPosition();
      for (const text of ['one', 'two']) await nodeMessages.post('a', bytes(text));
      await nodeMessages.post('b', bytes('of b'));
      const read = await nodeMessages.read(start, 'b');
      expect(textsOf(read)).toEqual(['one', 'two']);
      expect(read).toMatchObject({ isComplete: true, isEnd: true });
      expect(read.messages.every(({ ageMs }) => ageMs >= 0 && ageMs < 60_000)).toBe(true);
      expect(read.position).toBe(await nodeMessages.lastPosition());
      expect(textsOf(await nodeMessages.read(start, 'a'))).toEqual(['of b']);
      expect(await nodeMessages.read(read.position, 'b')).toEqual({
        ...{ messages: [], position: read.position, isEnd: true, isComplete: true },
      });
    });

    it('change a mark, and nothing else does', async () => {
      const { nodeMessages, notes, accounts } = await openForTest(open);
      const before = nodeMessages.mark();
      await accounts.add(account('ada'));
      await notes.add('ada', 'a note', 1);
      expect(nodeMessages.mark()).toBe(before);
      await nodeMessages.post('a', bytes('one'));
      await expect.poll(() => nodeMessages.mark()).not.toBe(before);
    });

    it('are read in batches, none left out and none twice, while others write', async () => {
      const { nodeMessages } = await openForTest(open);
      const posted = Array.from({ length: messageBatchSize + 50 }, (_, index) => `message ${index}`);
      let isPosting = true;
      const posting = Promise.all(posted.map((text) => nodeMessages.post('a', bytes(text)))).finally(() => {
        isPosting = false;
      });
      const seen: string[] = [];
      let position = 0;
      for (let isLast = false; !isLast; ) {
        // SQLite reads without a turn of the event loop, in which the others write.
        await new Promise((resolve) => setImmediate(resolve));
        isLast = !isPosting;
        for (let isEnd = false; !isEnd; ) {
          const read = await nodeMessages.read(position, 'b');
          expect(read.isComplete).toBe(true);
          seen.push(...textsOf(read));
          ({ position, isEnd } = read);
        }
      }
      await posting;
      expect(seen.sort()).toEqual(posted.sort());
    });

    it('are swept after a minute; a reader that was too slow finds out', async () => {
      const { nodeMessages, sweepExpired } = await openForTest(open);
      const now = Math.floor(Date.now() / 1000);
      await nodeMessages.post('a', bytes('one'));
      await nodeMessages.post('a', bytes('two'));
      await sweepExpired(now + messageSeconds - 20);
      expect(textsOf(await nodeMessages.read(0, 'b'))).toEqual(['one', 'two']);
      await sweepExpired(now + messageSeconds + 60);
      await nodeMessages.post('a', bytes('three'));
      const late = await nodeMessages.read(1, 'b');
      expect([late.isComplete, textsOf(late)]).toEqual([false, ['three']]);
      const inTime = await nodeMessages.read(2, 'b');
      expect([inTime.isComplete, textsOf(inTime)]).toEqual([true, ['three']]);
      expect((await nodeMessages.read(inTime.position, 'b')).isComplete).toBe(true);
    });

    it('of a database that was set back leave no reader in doubt', async () => {
      const { nodeMessages } = await openForTest(open);
      await nodeMessages.post('a', bytes('one'));
      const ahead = await nodeMessages.read(7, 'b');
      expect(ahead).toMatchObject({ messages: [], position: 1, isEnd: true, isComplete: false });
    });
  });
}
