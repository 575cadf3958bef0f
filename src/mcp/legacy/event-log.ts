import { parseExact } from '../../collections/exact-json.ts';
import type { Logger } from '../../observability/logger.ts';
import type {
  EventRetention,
  McpSessionStore,
  StoredEvent,
  StoredStream,
} from '../../storage/mcp-sessions.ts';
import type { JsonRpcError, Seal } from '../protocol.ts';

/** A stored stream, with its events after a position. */
export type KeptStream = StoredStream & { events: StoredEvent[] };

/** Outcome of a write: `refused` if the session is gone, or another process has it. */
export type LogOutcome = 'stored' | 'failed' | 'refused';

/** An event on its way to the storage. */
export interface AppendedEvent {
  /** False if the event itself is too large to be stored. */
  isKept: boolean;
  /** Present if the event may be sent only then: with its id if it is stored, and not at all if it is refused. */
  written?: Promise<LogOutcome>;
}

/** Writes the events of one session to the storage. */
export interface EventLog {
  /** Stores a stream. */
  open(stream: StoredStream): Promise<LogOutcome>;
  /**
   * Stores an event. In the place of a response over the limit, an error is stored.
   * @param isHeard true if a client listens; without a listener, a response over the limit is lost, and logged
   */
  append(event: StoredEvent, isHeard?: boolean): AppendedEvent;
  /** Removes a stream. */
  close(stream: string): void;
  /** Resolves once everything written so far is stored, or failed to be. */
  stored(): Promise<void>;
  /**
   * Returns a stream with its events after a position, including those that are not written yet.
   * @returns undefined if this session has no such stream
   */
  resume(stream: string, after: number): Promise<KeptStream | undefined>;
}

/** Options of event logs. */
export interface EventLogOptions {
  store: Pick<McpSessionStore, 'isRemote' | 'openStream' | 'append' | 'closeStream' | 'resume'>;
  retention: EventRetention;
  seal: Seal;
  /** Id of the client whose session it is, for the log. */
  client?: string;
  /** Epoch seconds. */
  now: () => number;
  logger: Logger;
}

/** Maximum length of a stored request key, in characters. */
const maxKeptKeyLength = 1024;

/** Share of a session's limit that one event may have. Sealing makes it a third longer. */
const keptShare = 0.7;

/** Error for a client that returns for a response which was not stored. */
const notKept: JsonRpcError = {
  code: -32000,
  message:
    'The answer was too large to be kept for a client that comes back. Look whether the call had its effect, or ask for less at once.',
  data: { reason: 'answer_not_kept' },
};

function isKept(key: string): boolean {
  return key.length <= maxKeptKeyLength;
}

/**
 * Creates the log of one session's events. Writes go to the storage in order, and in the background: if the database is
 * local, a listener gets an event at once. Events that come during a write share the next one. Events lost in a crash were
 * not acknowledged; their calls count as unanswered. Events are sealed, because they contain personal results of tools.
 * @param key of the session in the storage
 */
export function createEventLog(
  key: string,
  { store, retention, seal, client, now, logger }: EventLogOptions,
): EventLog {
  /** Events that wait for their write, while others may still join them. */
  let waiting: { events: StoredEvent[]; written: Promise<LogOutcome> } | undefined;
  /** Length of all events that wait for a write, in characters. */
  let unwritten = 0;
  let last: Promise<unknown> = Promise.resolve();

  const contextOf = (stream: string, position: number): string =>
    JSON.stringify(['event', key, stream, position]);
  const inTurn = (write: () => Promise<unknown>): Promise<LogOutcome> => {
    const written = last.then(write).then(
      (isOurs) => (isOurs === false ? ('refused' as const) : ('stored' as const)),
      (error: unknown) => {
        logger.warn({ err: error }, 'an event of an MCP session could not be kept; it cannot be resumed');
        return 'failed' as const;
      },
    );
    last = written;
    return written;
  };
  /** Other writes keep their order: no later event joins a batch before them. */
  const inOrder = (write: () => Promise<unknown>): Promise<LogOutcome> => {
    waiting = undefined;
    return inTurn(write);
  };
  const keep = async (events: StoredEvent[]): Promise<boolean> => {
    if (waiting?.events === events) waiting = undefined;
    const length = events.reduce((sum, { data }) => sum + data.length, 0);
    return store.append(key, events, retention, now()).finally(() => {
      unwritten -= length;
    });
  };

  return {
    open: ({ stream, owed }) =>
      inOrder(() => store.openStream(key, { stream, owed: owed.filter(isKept) }, now())),
    append({ answers, ...event }, isHeard = false) {
      const mostBytes = retention.maxBytes * keptShare;
      const isTooLarge = event.data.length > mostBytes || unwritten + event.data.length > retention.maxBytes;
      if (isTooLarge && !isHeard)
        logger.warn(
          { client, bytes: event.data.length },
          'an MCP answer is lost: it is too large to be kept',
        );
      if (isTooLarge && answers === undefined) return { isKept: false };
      const text = isTooLarge
        ? JSON.stringify({ jsonrpc: '2.0', id: parseExact(answers ?? 'null').value, error: notKept })
        : event.data;
      const data = seal.seal(text, contextOf(event.stream, event.position));
      unwritten += data.length;
      const sealed = { ...event, data, ...(answers !== undefined && isKept(answers) && { answers }) };
      if (waiting) waiting.events.push(sealed);
      else {
        const events = [sealed];
        waiting = { events, written: inTurn(() => keep(events)) };
      }
      const { written } = waiting;
      return { isKept: !isTooLarge, ...(store.isRemote && { written }) };
    },
    close(stream) {
      void inOrder(() => store.closeStream(key, stream));
    },
    stored: () => last.then(() => undefined),
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
