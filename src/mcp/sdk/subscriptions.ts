/** Subscribers of resource updates among the conversations with one server. */
export class Subscriptions<Subscriber> {
  readonly #byUri = new Map<unknown, Set<Subscriber>>();

  /** Number of subscribed resources. */
  get size(): number {
    return this.#byUri.size;
  }

  add(uri: string, subscriber: Subscriber): void {
    const subscribers = this.#byUri.get(uri) ?? new Set();
    this.#byUri.set(uri, subscribers.add(subscriber));
  }

  /** @returns whether others stay subscribed */
  remove(uri: string, subscriber: Subscriber): boolean {
    const subscribers = this.#byUri.get(uri);
    subscribers?.delete(subscriber);
    if (subscribers?.size === 0) this.#byUri.delete(uri);
    return this.#byUri.has(uri);
  }

  /** Those who are subscribed at this moment. */
  of(uri: unknown): Subscriber[] {
    return [...(this.#byUri.get(uri) ?? [])];
  }
}
