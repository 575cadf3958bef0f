import { describe, expect, it } from 'vitest';
import { createBudgets } from '../../../src/authorization-server/client-documents/budgets.ts';

const budgets = (perAddress: number, perTarget: number) =>
  createBudgets({
    perAddress: { times: perAddress, windowSeconds: 60 },
    perTarget: { times: perTarget, windowSeconds: 60 },
  });

const refused = { name: 'DocumentRefused', isOurLimit: true, retryAfterSeconds: expect.any(Number) };

describe('the budget', () => {
  it('of an address is its own (T-076)', async () => {
    const { takeForAddress } = budgets(2, 100);
    await takeForAddress('a');
    await takeForAddress('a');
    await expect(takeForAddress('a')).rejects.toMatchObject(refused);
    await takeForAddress('b');
  });

  it('of a host counts whoever asks (T-076)', async () => {
    const { takeForTarget } = budgets(100, 2);
    await takeForTarget('app.example', ['203.0.113.1'], false);
    await takeForTarget('app.example', ['203.0.113.2'], false);
    await expect(takeForTarget('app.example', ['203.0.113.3'], false)).rejects.toMatchObject(refused);
  });

  it('of a machine counts under all its names, and of an IPv6 network under all its addresses (T-076)', async () => {
    const { takeForTarget } = budgets(100, 2);
    for (const host of ['a.example', 'b.example']) await takeForTarget(host, ['203.0.113.1'], false);
    await expect(takeForTarget('c.example', ['203.0.113.1'], false)).rejects.toMatchObject(refused);
    for (const host of ['d.example', 'e.example']) await takeForTarget(host, [`2001:db8::${host[0]}`], false);
    await expect(takeForTarget('f.example', ['2001:db8::f'], false)).rejects.toMatchObject(refused);
  });

  it('of documents that were good before is not used up by invented ones (T-076)', async () => {
    const { takeForTarget } = budgets(100, 1);
    await takeForTarget('app.example', ['203.0.113.1'], false);
    await expect(takeForTarget('app.example', ['203.0.113.1'], false)).rejects.toMatchObject(refused);
    await takeForTarget('app.example', ['203.0.113.1'], true);
  });
});
