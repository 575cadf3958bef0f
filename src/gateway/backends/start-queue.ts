import type { RequestId } from '@modelcontextprotocol/server';
import type { RequestMessage } from '../../mcp/protocol.ts';

/** Most that waits for a process to be ready, in characters. */
const maxQueued = 16 * 1024 * 1024;

/** Requests that wait for a process to be ready, in the order they came, and no more of them than may wait (T-156). */
export class StartQueue {
  #waiting: { request: RequestMessage; length: number }[] = [];
  #length = 0;

  /**
   * Takes a request.
   * @returns false if too much waits already
   */
  push(request: RequestMessage): boolean {
    const { length } = JSON.stringify(request);
    if (this.#length + length > maxQueued) return false;
    this.#waiting.push({ request, length });
    this.#length += length;
    return true;
  }

  /** Returns true if a request waits. */
  has(id: RequestId): boolean {
    return this.#waiting.some(({ request }) => request.id === id);
  }

  /**
   * Lets go of a request nobody wants any more.
   * @returns false if it does not wait
   */
  remove(id: RequestId): boolean {
    const at = this.#waiting.findIndex(({ request }) => request.id === id);
    const [removed] = at < 0 ? [] : this.#waiting.splice(at, 1);
    this.#length -= removed?.length ?? 0;
    return removed !== undefined;
  }

  /** Returns all that waits, in its order, and is empty then. */
  takeAll(): RequestMessage[] {
    this.#length = 0;
    return this.#waiting.splice(0).map(({ request }) => request);
  }
}
