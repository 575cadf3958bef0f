import { describe, expect, it } from 'vitest';
import { generateKeySet, generateSealingKey, type KeySet } from '../../../src/crypto/key-schedule.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { credentialContext } from '../../../src/storage/backends.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { account, artifact, grant, openForTest, startOfTime } from './subject.ts';
import { commit, link } from './upstream.ts';

/** Opens a storage with nothing in it but what the keys leave there. */
export type OpenWithKeys = (keys: KeySet) => Promise<Storage> | Storage;

/** A database with rows sealed under a first key, and a box that seals with a second. */
async function startRotation(open: OpenWithKeys, rows: number) {
  const keys = await generateKeySet();
  const storage = await openForTest(() => open(keys));
  const first = createSealedBox(keys.sealing);
  await storage.accounts.add(account('ada'));
  const context = 'Grant:g';
  await storage.artifacts.commit([{ ...grant('g'), payload: first.seal('the grant', context) }]);
  await storage.artifacts.commit(
    Array.from({ length: rows }, (_, n) =>
      artifact(`t${n}`, { grantId: 'g', payload: first.seal(`token ${n}`, `RefreshToken:t${n}`) }),
    ),
  );
  const [old] = keys.sealing;
  const fresh = generateSealingKey();
  const both = createSealedBox([fresh, ...keys.sealing]);
  return { storage, both, oldId: old?.id ?? '', freshId: fresh.id };
}

/** What every storage does with its sealed values. */
export function describeSealedRows(open: OpenWithKeys): void {
  describe('sealed rows', () => {
    it('are counted by the key they are sealed under', async () => {
      const { storage, oldId } = await startRotation(open, 450);
      // The grant, the canary of the installation, and the tokens.
      expect([...(await storage.sealedRows.countByKey())]).toEqual([[oldId, 452]]);
    });

    it('are sealed anew in their place, readable and of the same revision (T-179)', async () => {
      const { storage, both, oldId, freshId } = await startRotation(open, 450);
      await storage.sealedRows.reseal(oldId, (sealed, context) =>
        both.seal(both.open(sealed, context), context),
      );
      expect([...(await storage.sealedRows.countByKey())]).toEqual([[freshId, 452]]);
      const row = await storage.artifacts.find('RefreshToken', 't449');
      expect(both.open(row?.payload ?? Buffer.of(), 'RefreshToken:t449')).toBe('token 449');
      expect(row?.revision).toBe(0);
    });

    it('of upstreams are sealed anew: profiles, tokens that are held, tokens that are to be revoked (T-179)', async () => {
      const { storage, both, oldId, freshId } = await startRotation(open, 0);
      const first = (text: string, context: string) => both.seal(text, context);
      for (const id of ['ada', 'grace', 'lin']) {
        if (id !== 'ada') await storage.accounts.add(account(id));
        await commit(
          storage,
          link(id, id, {
            profile: first(`profile of ${id}`, `UpstreamProfile:${id}`),
            tokens: first(`tokens of ${id}`, `UpstreamTokens:${id}`),
            kept: id === 'lin',
          }),
        );
      }
      await storage.upstreams.endLink('grace', { revoke: true });
      await storage.upstreams.endLink('lin', { revoke: false });
      const third = generateSealingKey();
      const later = createSealedBox([third]);
      expect((await storage.sealedRows.countByKey()).get(freshId)).toBe(4);
      await storage.sealedRows.reseal(freshId, (sealed, context) =>
        later.seal(both.open(sealed, context), context),
      );
      expect([...(await storage.sealedRows.countByKey())].sort()).toEqual(
        [
          [oldId, 2],
          [third.id, 4],
        ].sort(),
      );
      const held = await storage.upstreams.find('ada');
      expect(later.open(held?.tokens ?? Buffer.of(), 'UpstreamTokens:ada')).toBe('tokens of ada');
      expect(later.open(held?.profile ?? Buffer.of(), 'UpstreamProfile:ada')).toBe('profile of ada');
      const [due] = await storage.upstreams.dueRevocations(startOfTime, 9, 0);
      expect(later.open(due?.tokens ?? Buffer.of(), `UpstreamTokens:${due?.linkId}`)).toBe('tokens of grace');
      expect((await storage.upstreams.find('lin'))?.tokens).toBeUndefined();
    });

    it('of credentials for backends are sealed anew, which is no change of them (T-179)', async () => {
      const { storage, both, oldId } = await startRotation(open, 0);
      const key = { accountId: 'ada', route: 'notion', name: 'apiKey' };
      const context = credentialContext('ada', 'notion', 'apiKey');
      const { backendCredentials } = storage;
      await backendCredentials.put(key, both.seal('ntn_planted', context), startOfTime);
      const last = await backendCredentials.lastChange();
      const later = createSealedBox([generateSealingKey()]);
      for (const keyId of (await storage.sealedRows.countByKey()).keys())
        await storage.sealedRows.reseal(keyId, (sealed, sealedFor) =>
          later.seal(both.open(sealed, sealedFor), sealedFor),
        );
      expect((await storage.sealedRows.countByKey()).has(oldId)).toBe(false);
      expect(later.open((await backendCredentials.find(key)) ?? Buffer.of(), context)).toBe('ntn_planted');
      expect(await backendCredentials.lastChange()).toBe(last);
    });

    it('that cannot be opened stay, and so do those that are not of the old key', async () => {
      const { storage, oldId } = await startRotation(open, 3);
      await storage.sealedRows.reseal(oldId, () => undefined);
      await storage.sealedRows.reseal('another key', () => Buffer.of(1));
      expect([...(await storage.sealedRows.countByKey())]).toEqual([[oldId, 5]]);
    });

    it('that others write meanwhile are theirs, and those that are removed stay so', async () => {
      const { storage, both, oldId } = await startRotation(open, 2);
      const written = both.seal('newer', 'RefreshToken:t0');
      let isFirst = true;
      await storage.sealedRows.reseal(oldId, (sealed, context) => {
        if (isFirst)
          void storage.artifacts.commit([
            artifact('t0', { grantId: 'g', payload: written }),
            { type: 'remove', kind: 'RefreshToken', id: 't1', mustExist: true },
          ]);
        isFirst = false;
        return both.seal(both.open(sealed, context), context);
      });
      expect((await storage.artifacts.find('RefreshToken', 't0'))?.payload).toEqual(written);
      expect(await storage.artifacts.find('RefreshToken', 't1')).toBeUndefined();
    });
  });
}

/** Columns of bytes that hold nothing sealed. */
export const notSealed: readonly string[] = ['passkeys.public_key', 'node_messages.payload'];
