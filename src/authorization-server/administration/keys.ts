import type { KeyRing } from '../../crypto/key-ring.ts';
import type { KeyKind, KeyStanding } from '../../crypto/key-schedule.ts';
import type { SealedRows } from '../../storage/sealed-rows.ts';
import { AdministrationRefused } from './administration-refused.ts';
import type { RecordAction } from './recorded.ts';

/** A key as an operator sees it: everything but the key. */
export interface ListedKey extends KeyStanding {
  /** How much of the database is sealed under it; of sealing keys alone. */
  sealedRows?: number;
}

/** A key that will take the place of the one in use. */
export interface RotatedKey extends KeyStanding {
  /** False where it was waiting already. */
  isNew: boolean;
  /** Keys it passes over, as they stood before: they were to be in use later than a key of now can be. */
  misdated: KeyStanding[];
}

/**
 * What an operator does to the keys.
 * @param record takes note of each rotation
 */
export function administerKeys(ring: KeyRing | undefined, rows: SealedRows, record: RecordAction) {
  const needed = (): KeyRing => {
    if (!ring) throw new AdministrationRefused('The keys of this installation are not in a key file.');
    return ring;
  };
  return {
    /** Gives all keys, newest first, without the keys. */
    async list(): Promise<ListedKey[]> {
      const counts = await rows.countByKey();
      return needed()
        .list()
        .map((key) => (key.kind === 'sealing' ? { ...key, sealedRows: counts.get(key.id) ?? 0 } : key));
    },
    /** Makes the next key of each kind. One that waits already is the next: nothing is made then, unless a key is misdated. */
    async rotate(kinds: readonly KeyKind[]): Promise<RotatedKey[]> {
      const rotated: RotatedKey[] = [];
      for (const kind of kinds) {
        const { key, isNew, misdated } = await needed().rotate(kind);
        if (isNew) await record('key.rotated', { kind, keyId: key.id });
        rotated.push({ ...key, isNew, misdated });
      }
      return rotated;
    },
  };
}
