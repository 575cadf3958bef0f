import { isRefusal, readLineOfServer } from '../../mcp/building-blocks.ts';
import type { StdioProcess } from './stdio-process.ts';

/** Milliseconds between the use of a spare process and the start of the next: the caller is served first. */
const restMs = 1000;

/** A process that was started before anybody needs it. */
export interface Spare {
  /** Returns it to one who needs it, and to nobody else; undefined if there is none. */
  take(): StdioProcess | undefined;
  /** Number of spare processes: one or none. */
  readonly count: number;
  close(): void;
}

/**
 * Creates a spare, started soon, unless it is closed before, and again after each that was taken. One that ends by
 * itself is not started again before somebody asks, so that a program that fails is not started without end.
 */
export function createSpare(start: () => StdioProcess): Spare {
  let waiting: StdioProcess | undefined;
  let isClosed = false;

  const prepare = (): void => {
    if (isClosed || waiting) return;
    const started = start();
    waiting = started;
    started.listener = {
      // The gateway is its client already: a program that pings gets its answer (FA-41).
      line(bytes) {
        const messages = readLineOfServer(bytes, started.maxLineValues);
        if (messages === undefined || isRefusal(messages)) return;
        for (const { id, method } of messages.requests)
          if (method === 'ping') started.write({ jsonrpc: '2.0', id, result: {} });
      },
      tooLong() {},
      gone() {
        if (waiting === started) waiting = undefined;
        void started.end();
      },
    };
  };
  setImmediate(prepare);

  return {
    take() {
      const taken = waiting;
      waiting = undefined;
      setTimeout(prepare, restMs).unref();
      return taken?.isGone ? undefined : taken;
    },
    get count() {
      return waiting ? 1 : 0;
    },
    close() {
      isClosed = true;
      void waiting?.end();
      waiting = undefined;
    },
  };
}
