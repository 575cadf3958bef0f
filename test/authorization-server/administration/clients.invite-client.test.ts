import { describe, expect, it } from 'vitest';
import { invitationId } from '../../../src/authorization-server/engine/stored-rows.ts';
import { now, openClients } from './support/clients.ts';

describe('an invitation', () => {
  it('is given once, and kept as a hash with its uses and its end (T-065)', async () => {
    const { storage, clients } = await openClients();
    const { token, ...rest } = await clients.invite({ uses: 3, lifeSeconds: 60 });
    expect([token, rest]).toEqual([
      expect.stringMatching(/^invite_[\w-]{43}$/),
      { uses: 3, expiresAt: now + 60 },
    ]);
    expect(await storage.invitations.find(invitationId(token))).toEqual({
      id: invitationId(token),
      usesLeft: 3,
      createdAt: now,
      expiresAt: now + 60,
    });
  });

  it.each([
    [0, 60],
    [1.5, 60],
    [10_001, 60],
    [1, 0],
    [1, 366 * 86_400],
  ])('for %d clients and %d seconds is refused', async (uses, lifeSeconds) => {
    const { clients } = await openClients();
    await expect(clients.invite({ uses, lifeSeconds })).rejects.toThrow('An invitation is');
  });
});
