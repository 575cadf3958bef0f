import { loggable } from '../../observability/logger.ts';
import { hashDefinition, hashToolMembers } from './definition-hash.ts';
import type { Entry } from './listed.ts';

/** What a server defines, and what is pinned of it. */
export type DefinitionKind = 'tool' | 'prompt' | 'template' | 'instructions';

/** A definition by its kind and name, and its hash. */
interface Hashed {
  kind: DefinitionKind;
  name: string;
  hash: string;
  definition?: string;
}

/** Stores pins durably. */
export interface PinStore {
  /** Lists the pins of a route. */
  list(route: string): Promise<Hashed[]>;
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
}

/** Options of {@link DefinitionPins}. */
export interface DefinitionPinsOptions {
  /** The name of the route that the pins belong to. */
  route: string;
  store: PinStore;
  /** Writes a change to the log and the audit log. */
  noteChanged(change: DefinitionChange): void;
  /** Epoch seconds. */
  now: () => number;
}

/** A definition that differs from its pin. */
export interface ChangedDefinition {
  /** The pinned instructions as JSON; absent for other kinds, and if they were too long to store. */
  accepted?: string | undefined;
}

/** Most pins of a route and kind; further definitions count as changed. */
const maxOfKind = 2000;

/** The pins of a route: each definition as it was first seen or last accepted by the operator (T-160, T-210). */
export class DefinitionPins {
  readonly #options: DefinitionPinsOptions;
  #known: Promise<Map<DefinitionKind, Map<string, Hashed>>> | undefined;

  constructor(options: DefinitionPinsOptions) {
    this.#options = options;
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
    for (const [name, entry] of definitions) {
      const hashed = hashDefinition(entry);
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
    for (const one of changed) if (known.has(one.name)) await this.#note(one);
    return new Map([
      ...unread,
      ...changed.map(({ name }) => [name, { accepted: known.get(name)?.definition }] as const),
    ]);
  }

  /** Pins of tools covered fewer members once: the hash of those members is replaced if it still fits. */
  async #upgrade({ entry, ...one }: Hashed & { entry: Entry }, pin: Hashed | undefined): Promise<void> {
    if (one.kind !== 'tool' || pin?.hash !== hashToolMembers(entry)) return;
    await this.#options.store.upgrade(this.#options.route, one, pin.hash);
  }

  async #read(kind: DefinitionKind, isAnew = false): Promise<Map<string, Hashed>> {
    if (isAnew) this.#known = undefined;
    const { store, route } = this.#options;
    this.#known ??= store
      .list(route)
      .then(byKind)
      .catch((error: unknown) => {
        this.#known = undefined;
        throw error;
      });
    return (await this.#known).get(kind) ?? new Map();
  }

  async #note({ entry: _entry, ...changed }: Hashed & { entry: Entry }): Promise<void> {
    const { route, store, noteChanged, now } = this.#options;
    const isNew = await store.noteChange(route, changed, now());
    if (!isNew) return;
    const { kind, hash } = changed;
    const name = String(loggable(changed.name.replace(/\p{C}/gu, '\u{fffd}')));
    noteChanged({ route, kind, name, hash });
  }
}

/** Definitions of instructions alone are held: they are delivered in place of changed ones. */
function byKind(pins: readonly Hashed[]): Map<DefinitionKind, Map<string, Hashed>> {
  const kinds = new Map<DefinitionKind, Map<string, Hashed>>();
  for (const { kind, name, hash, definition } of pins) {
    const ofKind = kinds.get(kind) ?? new Map<string, Hashed>();
    const isHeld = kind === 'instructions' && definition !== undefined;
    ofKind.set(name, { kind, name, hash, ...(isHeld && { definition }) });
    kinds.set(kind, ofKind);
  }
  return kinds;
}
