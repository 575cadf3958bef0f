import { describe, expect, it } from 'vitest';
import { createUsedProofs } from '../../src/authorization-server/used-proofs.ts';
import { startOfTime } from '../storage/contract/subject.ts';
import { startAdapters } from './storage-subject.ts';

describe('proofs in the database', () => {
  it('are good once, also for many who come at once (A13-09)', async () => {
    const { storage } = await startAdapters();
    const proofs = createUsedProofs(storage.artifacts);
    const told = await Promise.all(Array.from({ length: 50 }, () => proofs.useOnce('a', startOfTime + 60)));
    expect(told.filter(Boolean)).toHaveLength(1);
    expect(await proofs.useOnce('b', startOfTime + 60)).toBe(true);
  });

  it('are forgotten once they could not be good again', async () => {
    const { storage } = await startAdapters();
    await createUsedProofs(storage.artifacts).useOnce('a', startOfTime + 60);
    expect(await storage.artifacts.find('DpopProof', 'a')).toBeDefined();
    await storage.sweepExpired(startOfTime + 61);
    expect(await storage.artifacts.find('DpopProof', 'a')).toBeUndefined();
  });
});
