import { keyFileMark, readKeyFile, replaceKeyFile } from './key-file.ts';
import {
  describeKeys,
  generateSealingKey,
  generateSigningKey,
  isMisdated,
  type KeyKind,
  type KeySchedule,
  type KeySet,
  type KeyStanding,
  keysAt,
  type ScheduledKey,
  withNextKey,
} from './key-schedule.ts';
import { randomSecret } from './secret.ts';

/** What a key ring is made of. */
export interface KeyRingOptions {
  file: string;
  /**
   * Runs work while no other process of the installation does; resolves when what it did is durable. A lock that goes
   * with the process that holds it.
   */
  exclusively: <T>(work: () => T) => Promise<T>;
  /** Epoch seconds. */
  now: () => number;
}

/** What became of a rotation. */
export interface Rotation {
  key: KeyStanding;
  /** False if the key was waiting already. */
  isNew: boolean;
  /** Keys that were to be in use later than a key of now can be, as they stood before; the new key passes over them. */
  misdated: KeyStanding[];
}

/** The keys of an installation while they change. */
export interface KeyRing {
  /** The keys in use. Its lists change in place, in one step. */
  readonly keys: KeySet;
  /**
   * Looks whether another process has changed the file, and whether it is time for a key that waited.
   * @returns whether the keys in use are others than before
   * @throws KeyFileFault if the file cannot be used; the keys then stay as they are
   */
  refresh(): boolean;
  /** Says where each key stands, without the keys. */
  list(): KeyStanding[];
  /**
   * Makes the next key of a kind; it is used once everybody can know it. One that waits already is given instead, so
   * that two who rotate at once rotate once; unless a key is misdated, which the new one then passes over.
   * @throws KeyFileFault
   */
  rotate(kind: KeyKind): Promise<Rotation>;
  /**
   * Drops retiring keys; those that are in use or waiting stay.
   * @returns the ids of those that are gone now
   * @throws KeyFileFault
   */
  drop(kind: KeyKind, ids: readonly string[]): Promise<string[]>;
}

/** A fresh key of a kind, and its id. */
async function generateKey(kind: KeyKind): Promise<{ id: string; key: unknown }> {
  if (kind === 'sealing') return generateSealingKey();
  if (kind === 'cookies') return { id: randomSecret(6), key: randomSecret(32) };
  const key = await generateSigningKey();
  return { id: key.kid, key };
}

/** Empties a list and fills it again, so that whoever holds it has what is new. */
function replace<T>(list: readonly T[], content: readonly T[]): void {
  (list as T[]).splice(0, list.length, ...content);
}

/**
 * Opens the key ring of an installation.
 * @throws KeyFileFault if the key file cannot be used
 */
export function openKeyRing({ file, exclusively, now }: KeyRingOptions): KeyRing {
  let mark = keyFileMark(file);
  let schedule = readKeyFile(file);
  const keys = keysAt(schedule, now());

  /** Takes the keys that are in use now; returns whether they are others. */
  function apply(): boolean {
    const fresh = keysAt(schedule, now());
    if (JSON.stringify(fresh) === JSON.stringify(keys)) return false;
    replace(keys.sealing, fresh.sealing);
    replace(keys.cookies, fresh.cookies);
    replace(keys.signing, fresh.signing);
    Object.assign(keys, { audit: fresh.audit });
    return true;
  }

  function read(): void {
    const seen = keyFileMark(file);
    schedule = readKeyFile(file);
    mark = seen;
  }

  /** Changes the file as it is now, whoever wrote it last. */
  async function change<T>(work: (current: KeySchedule) => { result: T; next?: KeySchedule }): Promise<T> {
    const result = await exclusively(() => {
      const { result: made, next } = work(readKeyFile(file));
      if (next) replaceKeyFile(file, next);
      return made;
    });
    read();
    apply();
    return result;
  }

  return {
    keys,
    refresh() {
      if (keyFileMark(file) !== mark) read();
      return apply();
    },
    list: () => describeKeys(schedule, now()),
    async rotate(kind) {
      const made = await generateKey(kind);
      return change<Rotation>((current) => {
        const standings = describeKeys(current, now()).filter((key) => key.kind === kind);
        const misdated = standings.filter((key) => isMisdated(key, now()));
        const waiting = standings.findLast(({ state }) => state === 'next');
        if (waiting && misdated.length === 0) return { result: { key: waiting, isNew: false, misdated } };
        const keysOfKind = withNextKey<unknown>(kind, current[kind], made, now());
        const [{ id, createdAt, activeAt }] = keysOfKind;
        const next = { ...current, [kind]: keysOfKind };
        const key: KeyStanding = { kind, state: 'next', id, createdAt, activeAt };
        return { result: { key, isNew: true, misdated }, next };
      });
    },
    drop: (kind, ids) =>
      change((current) => {
        const retiring = describeKeys(current, now()).filter(
          (key) => key.kind === kind && key.state === 'retiring',
        );
        const gone = retiring.map(({ id }) => id).filter((id) => ids.includes(id));
        if (gone.length === 0) return { result: gone };
        const left = (current[kind] as ScheduledKey<unknown>[]).filter(({ id }) => !gone.includes(id));
        return { result: gone, next: { ...current, [kind]: left } };
      }),
  };
}
