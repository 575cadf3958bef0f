import type { EventStream } from '../http/reply.ts';

/** Most that is taken, in characters: a stream with more ends, and its client comes back for what is kept. */
const maxHeldLength = 1_000_000;

/** Takes the events of a stream while nobody can listen to it yet, and hands them on. */
export class HeldEvents implements EventStream {
  #events: { data: string; id: string }[] = [];
  #length = 0;
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if nothing that came is missing. */
  get isWhole(): boolean {
    return this.#length <= maxHeldLength;
  }

  send(data: string, id = ''): void {
    this.#length += data.length;
    if (this.isWhole) this.#events.push({ data, id });
    else this.#isOpen = false;
  }

  park(): () => void {
    return () => undefined;
  }

  retry(): void {}

  end(): void {
    this.#isOpen = false;
  }

  onClose(): void {}

  /**
   * Sends what was held.
   * @param isNew says of an event id whether the listener does not have it yet
   */
  flush(listener: EventStream, isNew: (id: string) => boolean): void {
    for (const { data, id } of this.#events) if (isNew(id)) listener.send(data, id);
    this.#events = [];
  }
}
