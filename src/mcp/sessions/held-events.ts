import type { EventStream } from '../streams/reply.ts';

/** Takes the events of a stream while nobody can listen to it yet, and hands them on. */
export class HeldEvents implements EventStream {
  #events: { data: string; id: string }[] = [];
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(data: string, id = ''): void {
    this.#events.push({ data, id });
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
