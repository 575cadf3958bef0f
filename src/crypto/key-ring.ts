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

/** The place of an installation's keys. */
export interface KeyStore {
  /** Returns the keys. @throws KeyFileFault if they cannot be used */
  read(): KeySchedule;
  /** Returns a mark that changes if the keys were replaced. */
  mark(): string;
  /**
   * Replaces the present keys, whichever process wrote them last, by those that `work` returns, if it returns some.
   * @throws KeyFileFault
   */
  change<T>(work: (current: KeySchedule) => { result: T; next?: KeySchedule }): Promise<T>;
}

/**
 * Returns the store of a key file.
 * @param exclusively runs work while no other process of the installation does, under a lock that ends with its
 * process; resolves once the work is durable
 */
export function createFileKeyStore(file: string, exclusively: <T>(work: () => T) => Promise<T>): KeyStore {
  return {
    read: () => readKeyFile(file),
    mark: () => keyFileMark(file),
    change: (work) =>
      exclusively(() => {
        const { result, next } = work(readKeyFile(file));
        if (next) replaceKeyFile(file, next);
        return result;
      }),
  };
}

/** The result of a rotation. */
export interface Rotation {
  key: KeyStanding;
  /** False if a next key existed already. */
  isNew: boolean;
  /** Keys whose activation time is later than any key made now can have; the new key supersedes them. */
  misdated: KeyStanding[];
}

/** The rotating keys of an installation. */
export interface KeyRing {
  /** The keys in use. Its lists change in place, in one step. */
  readonly keys: KeySet;
  /**
   * Reads the keys again if another process has changed them, and activates a key whose time has come.
   * @returns true if the keys in use changed
   * @throws KeyFileFault if they cannot be used; the keys then stay as they are
   */
  refresh(): boolean;
  /** Returns the state of each key, without the keys. */
  list(): KeyStanding[];
  /**
   * Creates the next key of a kind; it is used once every process can know it. An existing next key is returned
   * instead, so that two concurrent rotations rotate once; unless a key is misdated, which the new key then supersedes.
   * @throws KeyFileFault
   */
  rotate(kind: KeyKind): Promise<Rotation>;
  /**
   * Removes retiring keys; current and next keys stay.
   * @returns the ids of the removed keys
   * @throws KeyFileFault
   */
  drop(kind: KeyKind, ids: readonly string[]): Promise<string[]>;
}

/** Returns a fresh key of a kind, with its id. */
async function generateKey(kind: KeyKind): Promise<{ id: string; key: unknown }> {
  if (kind === 'sealing') return generateSealingKey();
  if (kind === 'cookies') return { id: randomSecret(6), key: randomSecret(32) };
  const key = await generateSigningKey();
  return { id: key.kid, key };
}

/** Replaces the content of a list in place, so that its holders see the change. */
function replace<T>(list: readonly T[], content: readonly T[]): void {
  (list as T[]).splice(0, list.length, ...content);
}

/**
 * Opens the key ring of an installation.
 * @param now returns epoch seconds
 * @throws KeyFileFault if the keys cannot be used
 */
export function openKeyRing(store: KeyStore, now: () => number): KeyRing {
  let mark = store.mark();
  let schedule = store.read();
  const keys = keysAt(schedule, now());

  /** Activates the keys of the present time; returns true if they changed. */
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
    const seen = store.mark();
    schedule = store.read();
    mark = seen;
  }

  const change: KeyStore['change'] = async (work) => {
    const result = await store.change(work);
    read();
    apply();
    return result;
  };

  return {
    keys,
    refresh() {
      if (store.mark() !== mark) read();
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
