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

  it('of an address that many people share is twenty times as large', async () => {
    const { takeForAddress } = createBudgets({
      perAddress: { times: 1, windowSeconds: 60 },
      sharedAddresses: ['192.0.2.0/24'],
      perTarget: { times: 1, windowSeconds: 60 },
    });
    for (let fetches = 0; fetches < 20; fetches++) await takeForAddress('192.0.2.7');
    await expect(takeForAddress('192.0.2.7')).rejects.toMatchObject(refused);
  });

  it('of a host counts whoever asks (T-076)', async () => {
    const { takeForHost } = budgets(100, 2);
    await takeForHost('app.example', false);
    await takeForHost('app.example', false);
    await expect(takeForHost('app.example', false)).rejects.toMatchObject(refused);
    await takeForHost('other.example', false);
  });

  it('of a machine counts under all its names, and of an IPv6 network under all its addresses (T-076)', async () => {
    const { takeForNetworks } = budgets(100, 2);
    for (let fetches = 0; fetches < 2; fetches++) await takeForNetworks(['203.0.113.1'], false);
    await expect(takeForNetworks(['8.8.8.8', '203.0.113.1'], false)).rejects.toMatchObject(refused);
    for (const last of ['a', 'b']) await takeForNetworks([`2001:db8::${last}`, '2001:db8::c'], false);
    await expect(takeForNetworks(['2001:db8::d'], false)).rejects.toMatchObject(refused);
  });

  it('of documents that were good before is not used up by invented ones (T-076)', async () => {
    const { takeForHost, takeForNetworks } = budgets(100, 1);
    await takeForHost('app.example', false);
    await takeForNetworks(['203.0.113.1'], false);
    await expect(takeForHost('app.example', false)).rejects.toMatchObject(refused);
    await takeForHost('app.example', true);
    await takeForNetworks(['203.0.113.1'], true);
  });
});
