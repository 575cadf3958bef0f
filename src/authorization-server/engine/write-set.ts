import { AsyncLocalStorage } from 'node:async_hooks';
import type { ArtifactStore, Change, CommitResult, PutArtifact } from '../../storage/artifacts.ts';
import type { AuditEntry } from '../../storage/audit.ts';

/**
 * Condition of a row at the commit of the request: none; that a row which was read still exists; that it is also
 * unchanged; or that no such row exists yet.
 */
export type Guard = 'none' | 'present' | 'unchanged' | 'absent';

/** Kinds that are stored whatever becomes of the request: a client assertion counts once (T-049). */
const notedUses: ReadonlySet<string> = new Set(['ReplayDetection']);

/** Changes that a rejected request may still make. */
const keptWhenRefused: ReadonlySet<Change['type']> = new Set(['remove', 'removeGrant', 'audit']);

/**
 * The pending writes of one request. The engine consumes a code, saves a refresh token and saves an access token in
 * three calls; the write set commits them together before the response is sent, so that a crash leaves either all of
 * them or none (T-164, T-165).
 */
export class WriteSet {
  #changes: Change[] = [];
  #pending = new Map<string, PutArtifact | 'removed'>();
  #revisions = new Map<string, number>();
  #grants = new Map<string, string>();
  #logLines: (() => void)[] = [];
  #isOver = false;

  /** True if the request is over: later changes are not part of its commit. */
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

  /** Returns the pending write or removal of a row by this request; undefined if there is neither. */
  pending(kind: string, id: string): PutArtifact | 'removed' | undefined {
    return this.#pending.get(key(kind, id));
  }

  /** Remembers what a row was when it was read: its revision, and the grant it hangs on. */
  noteRow(kind: string, id: string, revision: number, grantId: string | undefined): void {
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

  /** True if the request ends a grant. */
  get endsGrant(): boolean {
    return this.#changes.some(({ type }) => type === 'removeGrant');
  }

  /**
   * Keeps removals, audit events and noted uses, and drops all other changes: a rejected request writes nothing else.
   */
  dropWrites(): void {
    this.#changes = this.#changes.filter(
      (change) => keptWhenRefused.has(change.type) || (change.type === 'put' && notedUses.has(change.kind)),
    );
  }

  /** Notes in the audit log what the request does, and says so once that is a fact. */
  note(entry: AuditEntry, log: () => void): void {
    this.#changes.push({ type: 'audit', entry });
    this.#logLines.push(log);
  }

  /** Writes the log lines of the audit events, once they are committed. */
  logNotedEvents(): void {
    for (const log of this.#logLines.splice(0)) log();
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

/**
 * Adds changes to the write set of the request; outside of a request, commits them at once.
 * @throws if that commit is rejected
 */
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
 * Runs a request with its own write set and commits it.
 * @param artifacts store of the commit
 * @param serve handles the request; resolves to true if its writes are to be kept (a request that failed by an internal
 *   error keeps none)
 * @returns the outcome of the commit, with the write set
 * @throws StorageUnavailable if the database cannot be written
 */
export async function commitWrites(
  artifacts: ArtifactStore,
  serve: (writes: WriteSet) => Promise<boolean>,
): Promise<{ result: CommitResult; writes: WriteSet }> {
  const writes = new WriteSet();
  const keep = await current.run(writes, () => serve(writes)).finally(() => writes.end());
  if (!keep) return { writes, result: { committed: true } };
  const result = await artifacts.commit(writes.changes);
  if (result.committed) writes.logNotedEvents();
  return { writes, result };
}
