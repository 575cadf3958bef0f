import { AsyncLocalStorage } from 'node:async_hooks';
import type { ArtifactStore, Change, CommitResult, PutArtifact } from '../../storage/artifacts.ts';
import type { AuditEntry } from '../../storage/audit.ts';

/**
 * What must hold for a row, when the write of the request is committed: nothing; of one that it has read, that it was
 * not ended meanwhile, or that it was not written either; or that there is none yet.
 */
export type Guard = 'none' | 'present' | 'unchanged' | 'absent';

/** What is used up by being noted, whatever becomes of the request: a client assertion counts once (T-049). */
const notedUses: ReadonlySet<string> = new Set(['ReplayDetection']);

/** What a refused request may still do. */
const keptWhenRefused: ReadonlySet<Change['type']> = new Set(['remove', 'removeGrant', 'audit']);

/**
 * What one request is about to write. The engine consumes a code, saves a refresh token and saves an access token in
 * three calls; collected here they become one commit before the answer leaves, so that a crash in between leaves
 * either all of it or nothing (F2, T-164, T-165).
 */
export class WriteSet {
  #changes: Change[] = [];
  #pending = new Map<string, PutArtifact | 'removed'>();
  #revisions = new Map<string, number>();
  #grants = new Map<string, string>();
  #sayings: (() => void)[] = [];
  #isOver = false;

  /** Whether the request is over: what it goes on to do is in no commit of it any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The request is over. */
  end(): void {
    this.#isOver = true;
  }

  /** The changes so far, in order. */
  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** What this request has written or removed itself; undefined where it has done neither. */
  pending(kind: string, id: string): PutArtifact | 'removed' | undefined {
    return this.#pending.get(key(kind, id));
  }

  /** Remembers what a row was when it was read: its revision, and the grant it hangs on. */
  sawRow(kind: string, id: string, revision: number, grantId: string | undefined): void {
    this.#revisions.set(key(kind, id), revision);
    if (grantId !== undefined) this.#grants.set(key(kind, id), grantId);
  }

  /** The grant of a row that was read in this request. */
  grantOf(kind: string, id: string): string | undefined {
    return this.#grants.get(key(kind, id));
  }

  /** Writes an artifact; the guard decides what must have become of a row that was read before. */
  put(change: PutArtifact, guard: Guard): void {
    const name = key(change.kind, change.id);
    const whole = { ...change, ...this.#conditionOn(name, guard) };
    const earlier = this.#pending.get(name);
    if (earlier && earlier !== 'removed') this.#changes.splice(this.#changes.indexOf(earlier), 1, whole);
    else this.#changes.push(whole);
    this.#pending.set(name, whole);
  }

  /** Removes an artifact; under a guard, one that was read before must still be there. */
  remove(kind: string, id: string, guard: Guard): void {
    const name = key(kind, id);
    const mustExist = guard !== 'none' && this.#revisions.has(name);
    this.#changes.push({ type: 'remove', kind, id, mustExist });
    this.#pending.set(name, 'removed');
  }

  #conditionOn(name: string, guard: Guard): Pick<PutArtifact, 'ifRevision' | 'ifPresent' | 'ifAbsent'> {
    if (guard === 'absent') return { ifAbsent: true };
    const revision = this.#revisions.get(name);
    if (guard === 'none' || revision === undefined) return {};
    return guard === 'unchanged' ? { ifRevision: revision } : { ifPresent: true };
  }

  /** Whether it ends a grant. */
  get endsGrant(): boolean {
    return this.#changes.some(({ type }) => type === 'removeGrant');
  }

  /** Keeps what it removes and what it notes, and drops the rest: a request that was refused does nothing else. */
  dropWrites(): void {
    this.#changes = this.#changes.filter(
      (change) => keptWhenRefused.has(change.type) || (change.type === 'put' && notedUses.has(change.kind)),
    );
  }

  /** Notes in the audit log what the request does, and says so once that is a fact. */
  note(entry: AuditEntry, say: () => void): void {
    this.#changes.push({ type: 'audit', entry });
    this.#sayings.push(say);
  }

  /** Says what was noted: it has become a fact. */
  sayWhatWasNoted(): void {
    for (const say of this.#sayings.splice(0)) say();
  }

  /** Notes from where the request uses an artifact up, if it does. */
  noteSource(kind: string, id: string, usedFrom: string): void {
    this.#changes = this.#changes.map((change) =>
      change.type === 'consume' && change.kind === kind && change.id === id
        ? { ...change, usedFrom }
        : change,
    );
  }

  /** Any change that later reads of this request need not see. */
  add(change: Change): void {
    this.#changes.push(change);
  }
}

function key(kind: string, id: string): string {
  return `${kind}:${id}`;
}

const current = new AsyncLocalStorage<WriteSet>();

/** The write set of the request being served; undefined outside of one. */
export function currentWriteSet(): WriteSet | undefined {
  return current.getStore();
}

/** Collects changes into the request's write set; outside of a request commits them at once. @throws where that is refused */
export async function record(artifacts: ArtifactStore, collect: (writes: WriteSet) => void): Promise<void> {
  const writes = currentWriteSet();
  if (writes) return collect(writes);
  const alone = new WriteSet();
  collect(alone);
  const result = await artifacts.commit(alone.changes);
  if (!result.committed)
    throw new Error(`a write outside of a request was refused: ${result.conflict.reason}`);
}

/**
 * Runs a request with a write set of its own and commits what it collected.
 * @param artifacts where to commit
 * @param serve the request; gives whether its writes are to be kept (a request that failed for our own fault keeps none)
 * @returns what became of the commit, with the write set
 * @throws StorageUnavailable where the database cannot be written
 */
export async function commitWrites(
  artifacts: ArtifactStore,
  serve: (writes: WriteSet) => Promise<boolean>,
): Promise<{ result: CommitResult; writes: WriteSet }> {
  const writes = new WriteSet();
  const keep = await current.run(writes, () => serve(writes)).finally(() => writes.end());
  if (!keep) return { writes, result: { committed: true } };
  const result = await artifacts.commit(writes.changes);
  if (result.committed) writes.sayWhatWasNoted();
  return { writes, result };
}
