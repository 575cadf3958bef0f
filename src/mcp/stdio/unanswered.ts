import type { RequestId } from '@modelcontextprotocol/server';
import type { Frames, Message } from '../reading/frames.ts';

/** The requests of the host that wait for their answers, so that an ending connection can let the quick ones out. */
export class Unanswered {
  readonly #ids = new Set<RequestId>();
  #onNone: (() => void) | undefined;

  /** Takes note of what a line asks, and of what it cancels. */
  asked({ list, requests }: Frames): void {
    for (const { id } of requests) this.#ids.add(id);
    for (const { method, params } of list)
      if (method === 'notifications/cancelled') this.#forget(params?.requestId as RequestId);
  }

  /** Takes note of what was written. */
  answered(written: Message | readonly Message[]): void {
    for (const { id, method } of [written].flat())
      if (method === undefined && id !== undefined) this.#forget(id);
  }

  /**
   * Waits until lines are taken and everything is answered.
   * @param patienceMs longest wait, in milliseconds
   * @param taking the taking of lines that goes on, if any
   */
  async settled(patienceMs: number, taking: () => Promise<void> | undefined): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
    const timer = setTimeout(giveUp, patienceMs);
    const { promise: none, resolve: onNone } = Promise.withResolvers<void>();
    await Promise.race([taking(), late]);
    this.#onNone = onNone;
    if (this.#ids.size === 0) onNone();
    await Promise.race([none, late]);
    clearTimeout(timer);
  }

  #forget(id: RequestId): void {
    this.#ids.delete(id);
    if (this.#ids.size === 0) this.#onNone?.();
  }
}
