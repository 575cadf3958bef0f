import { loggable } from '../../observability/loggable.ts';
import { differingMembers, hashDefinition, hashToolMembers } from './definition-hash.ts';
import { type Entry, mapInTurns } from './step.ts';

/** Definitions of a server, and their pinned hashes. */
export type DefinitionKind = 'tool' | 'prompt' | 'template' | 'instructions';

/** A definition by its kind and name, and its hash. */
interface Hashed {
  kind: DefinitionKind;
  name: string;
  hash: string;
  definition?: string;
}

/** A pin, and its noted change. */
interface Pinned extends Hashed {
  changed?: { hash: string };
}

/** Stores pins durably. */
interface PinStore {
  /** Lists the pins of a route, and the hashes of their noted changes. */
  list(route: string): Promise<Pinned[]>;
  /** Pins new definitions. */
  add(route: string, definitions: readonly Hashed[], nowSeconds: number): Promise<void>;
  /** Replaces the hash of a pin. @returns false if the pin does not have that hash */
  upgrade(route: string, definition: Hashed, fromHash: string): Promise<boolean>;
  /** Notes that a definition differs from its pin. @returns false if that is noted already */
  noteChange(route: string, definition: Hashed, nowSeconds: number): Promise<boolean>;
}

/** A change of a definition, for the log and the audit log. */
export interface DefinitionChange {
  route: string;
  kind: DefinitionKind;
  name: string;
  hash: string;
  /** The members that differ, as text; absent if a definition is too long to be compared. */
  members?: string;
}

/** Options of {@link DefinitionPins}. */
export interface DefinitionPinsOptions {
  /** The name of the route that the pins belong to. */
  route: string;
  store: PinStore;
  /** Writes a change to the log and the audit log. */
  noteChanged(change: DefinitionChange): void;
  /**
   * Calls back when an operator has accepted or forgotten pins of the route.
   * @returns ends it
   */
  onReplaced?: ((replaced: () => void) => () => void) | undefined;
  /** Epoch seconds. */
  now: () => number;
}

/** A definition that differs from its pin. */
export interface ChangedDefinition {
  /** The pinned instructions as JSON; absent for other kinds, and if they were too long to store. */
  accepted?: string | undefined;
}

/** Maximum number of pins of a route and kind; further definitions count as changed. */
const maxOfKind = 2000;

/** The pins of a route: each definition as it was first seen or last accepted by the operator (T-160, T-210). */
export class DefinitionPins {
  readonly #options: DefinitionPinsOptions;
  readonly #unlisten: (() => void) | undefined;
  #known: Promise<Map<DefinitionKind, Map<string, Pinned>>> | undefined;
  /** The pins that were read last. */
  #lastRead: Map<DefinitionKind, Map<string, Pinned>> | undefined;

  constructor(options: DefinitionPinsOptions) {
    this.#options = options;
    this.#unlisten = options.onReplaced?.(() => {
      this.#known = undefined;
    });
  }

  close(): void {
    this.#unlisten?.();
  }

  /** Returns the hash of a definition as callers see it, as far as it was read; changes that were not accepted count. */
  knownHash(kind: DefinitionKind, name: string): string | undefined {
    const pin = this.#lastRead?.get(kind)?.get(name);
    return pin?.changed?.hash ?? pin?.hash;
  }

  /**
   * Compares definitions with their pins, and pins new ones. A change is noted once. A definition that is too large to be
   * read counts as changed, and is neither pinned nor noted.
   * @param definitions by their names; a name may stand there twice
   * @returns those that differ, by name
   * @throws StorageUnavailable
   */
  async review(
    kind: DefinitionKind,
    definitions: readonly (readonly [name: string, definition: Entry])[],
  ): Promise<ReadonlyMap<string, ChangedDefinition>> {
    const unread = new Map<string, ChangedDefinition>();
    const seen: (Hashed & { entry: Entry })[] = [];
    const hashes = await mapInTurns(
      definitions,
      ([name, entry]) => [name, entry, hashDefinition(entry)] as const,
    );
    for (const [name, entry, hashed] of hashes) {
      if (hashed === 'too_large') unread.set(name, {});
      else seen.push({ kind, name, ...hashed, entry });
    }
    let known = await this.#read(kind);
    const { route, store, now } = this.#options;
    const fresh = seen.filter(({ name }) => !known.has(name)).slice(0, Math.max(0, maxOfKind - known.size));
    const differ = seen.filter(({ name, hash }) => known.has(name) && known.get(name)?.hash !== hash);
    if (fresh.length > 0) await store.add(route, fresh, now());
    for (const one of differ) await this.#upgrade(one, known.get(one.name));
    // Others may have been first, and the operator may have accepted what differed.
    if (fresh.length > 0 || differ.length > 0) known = await this.#read(kind, true);
    const changed = seen.filter(({ name, hash }) => known.get(name)?.hash !== hash);
    await this.#note(kind, changed, known);
    return new Map([
      ...unread,
      ...changed.map(({ name }) => [name, { accepted: known.get(name)?.definition }] as const),
    ]);
  }

  /** Replaces the hash of an earlier pin of a tool, which covered fewer members, if it still matches. */
  async #upgrade({ entry, ...one }: Hashed & { entry: Entry }, pin: Pinned | undefined): Promise<void> {
    if (one.kind !== 'tool' || pin?.hash !== hashToolMembers(entry)) return;
    await this.#options.store.upgrade(this.#options.route, one, pin.hash);
  }

  async #read(kind: DefinitionKind, isAnew = false): Promise<Map<string, Pinned>> {
    if (isAnew) this.#known = undefined;
    const { store, route } = this.#options;
    this.#known ??= store
      .list(route)
      .then(byKind)
      .catch((error: unknown) => {
        this.#known = undefined;
        throw error;
      });
    this.#lastRead = await this.#known;
    return this.#lastRead.get(kind) ?? new Map();
  }

  /** Notes a change again that was noted by an earlier hash of fewer members, but does not report it again. */
  async #note(
    kind: DefinitionKind,
    changed: readonly (Hashed & { entry: Entry })[],
    known: ReadonlyMap<string, Pinned>,
  ): Promise<void> {
    const { route, store, now } = this.#options;
    const untold: Hashed[] = [];
    for (const { entry, ...one } of changed) {
      const pin = known.get(one.name);
      if (!pin || !(await store.noteChange(route, one, now()))) continue;
      const isTold = kind === 'tool' && pin.changed?.hash === hashToolMembers(entry);
      if (!isTold) untold.push(one);
    }
    if (untold.length > 0) await this.#tell(kind, untold);
  }

  async #tell(kind: DefinitionKind, changed: readonly Hashed[]): Promise<void> {
    const { route, store, noteChanged } = this.#options;
    const pins = (await store.list(route)).filter((pin) => pin.kind === kind);
    const accepted = new Map(pins.map(({ name, definition }) => [name, definition]));
    await mapInTurns(changed, ({ name, hash, definition }) => {
      const members = differingMembers(accepted.get(name), definition);
      noteChanged({
        ...{ route, kind, name: printable(name), hash },
        ...(members && { members: printable(members.join(', ')) }),
      });
    });
  }
}

function printable(text: string): string {
  return String(loggable(text.replace(/\p{C}/gu, '\u{fffd}')));
}

/** Groups pins by kind. Only instructions keep their definition, which replaces changed ones. */
function byKind(pins: readonly Pinned[]): Map<DefinitionKind, Map<string, Pinned>> {
  const kinds = new Map<DefinitionKind, Map<string, Pinned>>();
  for (const { kind, name, hash, definition, changed } of pins) {
    const ofKind = kinds.get(kind) ?? new Map<string, Pinned>();
    const isHeld = kind === 'instructions' && definition !== undefined;
    const noted = changed && { changed: { hash: changed.hash } };
    ofKind.set(name, { kind, name, hash, ...(isHeld && { definition }), ...noted });
    kinds.set(kind, ofKind);
  }
  return kinds;
}
