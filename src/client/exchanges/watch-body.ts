/** Who looks on while a body passes. */
export interface BodyWatcher {
  /**
   * @param text what came so far, up to the limit
   * @param complete whether the body ended with it
   * @param truncated whether the body is longer than the limit
   */
  text(text: string, complete: boolean, truncated: boolean): void;
  /** The body broke off. */
  failed(error: unknown): void;
  /** Nothing more passes: it ended, broke off, or its reader went away. */
  over(): void;
}

/**
 * Lets a body pass to its reader as it is, no faster than it is read, and shows its beginning. Nothing beyond the limit
 * is kept, so a body without an end costs nothing (T-189).
 * @param body the body
 * @param maxBytes most bytes kept
 * @param watcher who looks on
 */
export function watchBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxBytes: number,
  watcher: BodyWatcher,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let room = maxBytes;
  let full = false;
  const keep = (chunk: Uint8Array): void => {
    if (full) return;
    full = chunk.byteLength > room;
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    room -= Math.min(room, chunk.byteLength);
    watcher.text(text, false, full);
    if (full) text = '';
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            keep(value);
            controller.enqueue(value);
            return;
          }
          if (!full) watcher.text(text + decoder.decode(), true, false);
          controller.close();
          watcher.over();
        } catch (error) {
          watcher.failed(error);
          watcher.over();
          controller.error(error);
        }
      },
      async cancel(reason) {
        watcher.over();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
