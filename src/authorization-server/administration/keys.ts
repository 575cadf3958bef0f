import type { KeyRing } from '../../crypto/key-ring.ts';
import { isMisdated, type KeyKind, type KeyStanding } from '../../crypto/key-schedule.ts';
import type { SealedRows } from '../../storage/storage.ts';
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
 * @param now epoch seconds
 */
export function administerKeys(
  ring: KeyRing | undefined,
  rows: SealedRows,
  record: RecordAction,
  now: () => number,
) {
  const needed = (): KeyRing => {
    if (!ring)
      throw new AdministrationRefused('not_possible', 'The keys of this installation are not in a key file.');
    return ring;
  };
  const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString();

  /** Under a clock that is behind, good keys look as if they were dated ahead: which of both it is, only the operator knows. */
  const requireDated = (kinds: readonly KeyKind[]): void => {
    const ahead = needed()
      .list()
      .find((key) => kinds.includes(key.kind) && isMisdated(key, now()));
    if (ahead)
      throw new AdministrationRefused(
        'not_possible',
        `The clock of this machine says ${isoTime(now())}, and a key of kind ${ahead.kind} was made at ${isoTime(ahead.createdAt)}, to be in use from ${isoTime(ahead.activeAt)}: the clock was ahead then, or is behind now. Where it is behind, set it right, and rotate then. Where it is right, rotate with --clock-is-right, which passes over that key. Nothing was changed.`,
      );
  };

  return {
    /** Gives all keys, newest first, without the keys. */
    async list(): Promise<ListedKey[]> {
      const counts = await rows.countByKey();
      return needed()
        .list()
        .map((key) => (key.kind === 'sealing' ? { ...key, sealedRows: counts.get(key.id) ?? 0 } : key));
    },
    /**
     * Makes the next key of each kind. One that waits already is the next: nothing is made then.
     * @param options.clockIsRight passes over keys that are misdated by the clock, which may be good ones where it is behind
     * @throws AdministrationRefused where a key is misdated otherwise
     */
    async rotate(
      kinds: readonly KeyKind[],
      { clockIsRight = false }: { clockIsRight?: boolean } = {},
    ): Promise<RotatedKey[]> {
      if (!clockIsRight) requireDated(kinds);
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
