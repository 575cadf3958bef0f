import { describe, expect, it } from 'vitest';
import { type OpenStorage, openForTest, startOfTime } from './subject.ts';

/** What every store of invitations does. */
export function describeInvitations(open: OpenStorage): void {
  describe('invitations', () => {
    const invitation = { id: 'i', usesLeft: 2, createdAt: startOfTime, expiresAt: startOfTime + 100 };
    const use = (at = startOfTime, id = 'i') => ({ type: 'useInvitation', id, at }) as const;

    it('are used as often as they say and no more, also at once (T-065)', async () => {
      const { artifacts, invitations } = await openForTest(open);
      await invitations.add(invitation);
      expect(await invitations.find('i')).toEqual(invitation);
      const uses = await Promise.all(Array.from({ length: 8 }, () => artifacts.commit([use()])));
      expect(uses.filter(({ committed }) => committed)).toHaveLength(2);
      expect(uses.find(({ committed }) => !committed)).toEqual({
        committed: false,
        conflict: { reason: 'missing', kind: 'InitialAccessToken', id: 'i' },
      });
      expect((await invitations.find('i'))?.usesLeft).toBe(0);
    });

    it('are worth nothing from the second they expire, and are swept (T-065)', async () => {
      const { artifacts, invitations, sweepExpired } = await openForTest(open);
      await invitations.add(invitation);
      expect(await artifacts.commit([use(invitation.expiresAt)])).toMatchObject({ committed: false });
      expect(await artifacts.commit([use(invitation.expiresAt - 1)])).toEqual({ committed: true });
      expect(await artifacts.commit([use(startOfTime, 'other')])).toMatchObject({ committed: false });
      await sweepExpired(invitation.expiresAt);
      expect(await invitations.find('i')).toBeDefined();
      await sweepExpired(invitation.expiresAt + 1);
      expect(await invitations.find('i')).toBeUndefined();
    });
  });
}
