import { honouredFilter } from '../../mcp/building-blocks.ts';
import type { Backend, Call, Change, SubscriptionFilter } from '../../mcp/protocol.ts';

/** Milliseconds that the confirmation of a subscription may take before the subscription counts. */
const confirmMs = 10_000;

/**
 * Notifications for a client of an older revision: changed lists, and its subscribed resources. At the server it is one
 * subscription, which is replaced when the client subscribes to something else.
 * @see MCP 2026-07-28 "Subscriptions"; MCP 2025-11-25 "Resources", subscriptions (C5-01, C5-03)
 */
export class ResourceWatch {
  readonly #backend: Pick<Backend, 'listen'>;
  readonly #tell: (change: Change) => void;
  readonly #uris = new Set<string>();
  #capabilities: Record<string, unknown> = {};
  #about: Pick<Call, 'request' | 'caller'> | undefined;
  /** Ends what is open: the newest last, those before it until it is confirmed. */
  #stops: (() => void)[] = [];

  /** @param tell takes what the client hears of */
  constructor(backend: Pick<Backend, 'listen'>, tell: (change: Change) => void) {
    this.#backend = backend;
    this.#tell = tell;
  }

  /** Notes what the server can tell of. */
  can(capabilities: Record<string, unknown>): void {
    this.#capabilities = capabilities;
  }

  /** Listens from now on. @param about who listens, and what it says of itself */
  begin(about: Pick<Call, 'request' | 'caller'>): void {
    this.#about = about;
    this.#listen(() => {});
  }

  /** Has the client hear of a resource, too. @param done called when it does */
  add(uri: string, done: () => void): void {
    this.#uris.add(uri);
    this.#listen(done);
  }

  /** Has the client not hear of a resource any more. */
  remove(uri: string, done: () => void): void {
    this.#uris.delete(uri);
    this.#listen(done);
  }

  /** Listens no more. */
  end(): void {
    this.#about = undefined;
    for (const stop of this.#stops.splice(0)) stop();
  }

  /** Opens what is listened to now; what was open before goes on until that is confirmed, so that nothing is missed. */
  #listen(done: () => void): void {
    const before = [...this.#stops];
    let isConfirmed = false;
    const confirmed = (): void => {
      if (isConfirmed) return;
      isConfirmed = true;
      clearTimeout(timer);
      this.#stops = this.#stops.filter((stop) => !before.includes(stop));
      for (const stop of before) stop();
      done();
    };
    const timer = setTimeout(confirmed, confirmMs).unref();
    const filter = honouredFilter(this.#wish(), this.#capabilities);
    const listener = { begun: confirmed, tell: this.#tell, ended: confirmed };
    if (this.#about && this.#backend.listen && Object.keys(filter).length > 0)
      this.#stops.push(this.#backend.listen(filter, this.#about, listener));
    else queueMicrotask(confirmed);
  }

  #wish(): SubscriptionFilter {
    return {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }
}
