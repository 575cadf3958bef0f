import type { ServerResponse } from 'node:http';

/**
 * Cuts off a client that takes nothing for too long while there is something to send, so that what waits for it
 * stays bounded (T-143).
 * @param stallMs longest time without a byte taken
 */
export function cutOffWhenStalled(response: ServerResponse, stallMs: number): void {
  let takenBytes = -1;
  const timer = setInterval(() => {
    const taken = (response.socket?.bytesWritten ?? 0) - (response.socket?.writableLength ?? 0);
    if (response.writableNeedDrain && taken === takenBytes) response.destroy();
    takenBytes = taken;
  }, stallMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
