import type { RequestId } from '@modelcontextprotocol/server';
import type { Message } from '../reading/frames.ts';

/** Requests of a host for which progress may still be sent: those without a response. */
export class OpenProgress {
  /** Progress tokens by the id of their request. */
  readonly #tokens = new Map<RequestId, unknown>();

  /** Notes what the host asks, and what it does not wait for any more. */
  heard(list: readonly Message[]): void {
    for (const { id, method, params } of list) {
      const meta = params?._meta as Record<string, unknown> | undefined;
      if (method === 'notifications/cancelled') this.#tokens.delete(params?.requestId as RequestId);
      else if (method !== undefined && id !== undefined && meta?.progressToken !== undefined)
        this.#tokens.set(id as RequestId, meta.progressToken);
    }
  }

  /**
   * Returns true if a message of the server may be written: anything but progress of a request that has its answer.
   * @see MCP 2026-07-28 "Progress" (C6-03)
   */
  allows({ id, method, params }: Message): boolean {
    if (method === 'notifications/progress')
      return [...this.#tokens.values()].includes(params?.progressToken);
    if (method === undefined) this.#tokens.delete(id as RequestId);
    return true;
  }
}
