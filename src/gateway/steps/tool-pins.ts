import { loggable } from '../../observability/logger.ts';
import { hashDefinition } from './definition-hash.ts';
import type { Entry } from './listed.ts';

/** A tool as it is remembered. */
interface Pin {
  tool: string;
  hash: string;
}

/** Where the definitions of tools are remembered, durably. */
export interface PinStore {
  /** Gives what is remembered of a route. */
  list(route: string): Promise<Pin[]>;
  /** Remembers tools that are new. */
  add(route: string, tools: readonly (Pin & { definition?: string })[], nowSeconds: number): Promise<void>;
  /**
   * Notes that a tool is defined otherwise now.
   * @returns false where that is known
   */
  noteChange(route: string, tool: Pin & { definition?: string }, nowSeconds: number): Promise<boolean>;
}

/** What the remembering works with. */
export interface ToolPinsOptions {
  /** The name of the route, by which its tools are remembered. */
  route: string;
  store: PinStore;
  /** Takes note, in the log and the audit log, of a tool whose definition changed. */
  noteChanged(details: { route: string; tool: string; hash: string }): void;
  /** Epoch seconds. */
  now: () => number;
}

/** Most tools of a route that are remembered; whatever a server makes up beyond counts as changed. */
const maxTools = 2000;

/** Remembers how tools were defined when they were first seen, or last accepted by the operator (T-160). */
export class ToolPins {
  readonly #options: ToolPinsOptions;
  #known: Promise<Map<string, string>> | undefined;

  constructor(options: ToolPinsOptions) {
    this.#options = options;
  }

  /**
   * Compares tools with what is remembered, and remembers those that are new. A change is noted once.
   * @returns the names of those that are defined otherwise than they were
   * @throws StorageUnavailable
   */
  async review(tools: readonly Entry[]): Promise<ReadonlySet<string>> {
    const named = tools.filter(({ name }) => typeof name === 'string');
    const seen = named.map((tool) => ({ tool: String(tool.name), ...hashDefinition(tool) }));
    let known = await this.#read();
    const fresh = seen.filter(({ tool }) => !known.has(tool)).slice(0, Math.max(0, maxTools - known.size));
    const differ = seen.some(({ tool, hash }) => known.has(tool) && known.get(tool) !== hash);
    const { route, store, now } = this.#options;
    if (fresh.length > 0) await store.add(route, fresh, now());
    // Others may have been first, and the operator may have accepted what differed.
    if (fresh.length > 0 || differ) known = await this.#read(true);
    const changed = seen.filter(({ tool, hash }) => known.get(tool) !== hash);
    for (const tool of changed) if (known.has(tool.tool)) await this.#note(tool);
    return new Set(changed.map(({ tool }) => tool));
  }

  #read(isAnew = false): Promise<Map<string, string>> {
    if (isAnew) this.#known = undefined;
    this.#known ??= this.#options.store
      .list(this.#options.route)
      .then((pins) => new Map(pins.map(({ tool, hash }) => [tool, hash])))
      .catch((error: unknown) => {
        this.#known = undefined;
        throw error;
      });
    return this.#known;
  }

  async #note(changed: { tool: string; hash: string; definition?: string }): Promise<void> {
    const { route, store, noteChanged, now } = this.#options;
    const isNew = await store.noteChange(route, changed, now());
    if (!isNew) return;
    const { tool, hash } = changed;
    const details = { route, tool: String(loggable(tool.replace(/\p{C}/gu, '\u{fffd}'))), hash };
    noteChanged(details);
  }
}
