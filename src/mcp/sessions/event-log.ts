import type { Logger } from '../../observability/logger.ts';
import type {
  EventRetention,
  McpSessionStore,
  StoredEvent,
  StoredStream,
} from '../../storage/mcp-sessions.ts';

/** A stream as it was kept, with its events behind a position. */
export type KeptStream = StoredStream & { events: StoredEvent[] };

/** Seals what stands in the database. */
export interface EventSeal {
  seal(text: string, context: string): string;
  /** @returns undefined where it cannot be opened */
  open(sealed: string, context: string): string | undefined;
}

/** The events of one session, on their way into the storage. */
export interface EventLog {
  /** Keeps a stream. Resolves when it is kept, or could not be. */
  open(stream: StoredStream): Promise<void>;
  /** Keeps an event. */
  append(event: StoredEvent): void;
  /** Forgets a stream. */
  close(stream: string): void;
  /**
   * Gives a stream with its events behind a position, those on their way included.
   * @returns undefined where this session has no such stream
   */
  resume(stream: string, after: number): Promise<KeptStream | undefined>;
}

/** What event logs are made of. */
export interface EventLogOptions {
  store: Pick<McpSessionStore, 'openStream' | 'append' | 'closeStream' | 'resume'>;
  retention: EventRetention;
  seal: EventSeal;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/**
 * Creates the log of one session's events. Writes go to the storage in their order and behind the back of who sends:
 * a client that is there gets an event at once. Events that come while a write is under way share the next one.
 * What a crash cuts off was never acknowledged to anybody; its calls count as unanswered. Events are sealed: they hold
 * what tools told one person.
 * @param key of the session in the storage
 */
export function createEventLog(
  key: string,
  { store, retention, seal, now, logger }: EventLogOptions,
): EventLog {
  let queued: StoredEvent[] = [];
  let last: Promise<void> = Promise.resolve();

  const contextOf = (stream: string, position: number): string =>
    JSON.stringify(['event', key, stream, position]);
  const inTurn = (write: () => Promise<void>): Promise<void> => {
    last = last.then(write).catch((error: unknown) => {
      logger.warn({ err: error }, 'an event of an MCP session could not be kept; it cannot be resumed');
    });
    return last;
  };
  const flush = async (): Promise<void> => {
    const events = queued;
    queued = [];
    if (events.length > 0) await store.append(key, events, retention, now());
  };

  return {
    open: (stream) => inTurn(() => store.openStream(key, stream, now())),
    append(event) {
      queued.push({ ...event, data: seal.seal(event.data, contextOf(event.stream, event.position)) });
      if (queued.length === 1) void inTurn(flush);
    },
    close(stream) {
      void inTurn(() => store.closeStream(key, stream));
    },
    async resume(stream, after) {
      await last;
      const kept = await store.resume(key, stream, after);
      if (!kept) return undefined;
      const events = kept.events.flatMap((event) => {
        const data = seal.open(event.data, contextOf(stream, event.position));
        return data === undefined ? [] : [{ ...event, data }];
      });
      return { ...kept, events };
    },
  };
}
