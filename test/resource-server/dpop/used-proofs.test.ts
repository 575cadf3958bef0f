import { describe, expect, it } from 'vitest';
import { createMemoryOfProofs } from '../../../src/resource-server/dpop/used-proofs.ts';

describe('the memory of used proofs', () => {
  it('takes each once, until it could not be good again anyway (A13-09)', async () => {
    let now = 100;
    const memory = createMemoryOfProofs(() => now);
    expect(await memory.useOnce('a', 160)).toBe(true);
    expect(await memory.useOnce('a', 160)).toBe(false);
    expect(await memory.useOnce('b', 160)).toBe(true);
    now = 160;
    expect(await memory.useOnce('a', 220)).toBe(true);
  });

  it('tells one of many who ask at once (A13-09)', async () => {
    const memory = createMemoryOfProofs(() => 100);
    const told = await Promise.all(Array.from({ length: 50 }, () => memory.useOnce('a', 160)));
    expect(told.filter(Boolean)).toHaveLength(1);
  });

  it('is bounded: full, it refuses rather than forget what could be repeated', async () => {
    let now = 100;
    const memory = createMemoryOfProofs(() => now, 2);
    await memory.useOnce('a', 160);
    await memory.useOnce('b', 160);
    expect(await memory.useOnce('c', 160)).toBe(false);
    expect(await memory.useOnce('a', 160)).toBe(false);
    now = 160;
    expect(await memory.useOnce('c', 220)).toBe(true);
  });
});
