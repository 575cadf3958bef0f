import { describe, expect, it } from 'vitest';
import { type ClientDocumentRow, documentKeptSeconds } from '../../../src/storage/client-documents.ts';
import { account, grant, type OpenStorage, openForTest, payload, startOfTime } from './subject.ts';

const url = (name: string): string => `https://${name}.example/client.json`;

function document(name: string, fetchedAt = startOfTime, text = name): ClientDocumentRow {
  return { url: url(name), payload: payload(text), fetchedAt, freshUntil: fetchedAt + 60 };
}

/** What every store of client documents does. */
export function describeClientDocuments(open: OpenStorage): void {
  describe('client documents', () => {
    it('are kept, found, and replaced by what was fetched later', async () => {
      const { clientDocuments } = await openForTest(open);
      await clientDocuments.put(document('a'), 10);
      await clientDocuments.put(document('a', startOfTime + 5, 'again'), 10);
      const row = await clientDocuments.find(url('a'));
      expect(row).toMatchObject({ fetchedAt: startOfTime + 5, freshUntil: startOfTime + 65 });
      expect(Buffer.from(row?.payload ?? []).toString()).toBe('again');
      expect(await clientDocuments.find(url('b'))).toBeUndefined();
    });

    it('are forgotten, alone or with all that was issued to their client', async () => {
      const { accounts, artifacts, clientDocuments, clients } = await openForTest(open);
      await accounts.add(account('ada'));
      for (const name of ['a', 'b']) await clientDocuments.put(document(name), 10);
      await clientDocuments.remove(url('a'));
      await artifacts.commit([grant('g', 'ada', url('b'))]);
      expect(await clients.remove(url('b'))).toBe(true);
      expect(await clients.remove(url('b'))).toBe(false);
      expect(await artifacts.findGrant('g')).toBeUndefined();
      expect(await clientDocuments.find(url('a'))).toBeUndefined();
      expect(await clientDocuments.find(url('b'))).toBeUndefined();
    });

    it('are so many and no more: those without a grant go first, the oldest of them before others (T-075)', async () => {
      const { accounts, artifacts, clientDocuments } = await openForTest(open);
      await accounts.add(account('ada'));
      const kept = async (): Promise<string[]> => {
        const names = ['granted', 'old', 'young', 'new', 'newer'];
        const rows = await Promise.all(names.map((name) => clientDocuments.find(url(name))));
        return names.filter((_name, at) => rows[at]);
      };
      await artifacts.commit([grant('g', 'ada', url('granted'))]);
      await clientDocuments.put(document('granted', startOfTime - 9), 3);
      await clientDocuments.put(document('young', startOfTime - 1), 3);
      await clientDocuments.put(document('old', startOfTime - 5), 3);
      expect(await kept()).toEqual(['granted', 'old', 'young']);
      await clientDocuments.put(document('new'), 3);
      expect(await kept()).toEqual(['granted', 'young', 'new']);
      await clientDocuments.put(document('newer', startOfTime - 100), 1);
      expect(await kept()).toEqual(['newer']);
    });

    it('are swept when nobody fetched them for long, and not before', async () => {
      const { clientDocuments, sweepExpired } = await openForTest(open);
      await clientDocuments.put(document('a'), 10);
      expect(await sweepExpired(startOfTime + documentKeptSeconds)).toBe(0);
      expect(await sweepExpired(startOfTime + documentKeptSeconds + 1)).toBe(1);
      expect(await clientDocuments.find(url('a'))).toBeUndefined();
    });
  });
}
