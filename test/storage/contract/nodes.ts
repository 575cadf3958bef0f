import { describe, expect, it } from 'vitest';
import { leaseSeconds, type NodeRow } from '../../../src/storage/nodes.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { session, wide } from './mcp-session.ts';
import { type OpenStorage, openForTest } from './subject.ts';

const node = (id: string): NodeRow => ({ id, address: `10.0.0.1:${id.length}`, version: '1', startedAt: 1 });

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
  });
}
