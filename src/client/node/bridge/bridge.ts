import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
} from '@modelcontextprotocol/client';
import type { Fetch } from '../../context.ts';
import type { AnswerLimits } from '../../transports/bounded-fetch.ts';
import { explainHttpRefusal, mayBeEventStreamServer, noEndpoint } from '../../transports/connect-errors.ts';
import type { ServerTransportOptions } from '../../transports/server-transports.ts';
import { HostChannel, type HostStreams } from './host-channel.ts';
import { openEventStreamRelay, openStreamableRelay } from './legacy-relay.ts';
import { openModernRelay } from './modern-relay.ts';
import { failedAnswer, type HostSide, type Relay } from './relay.ts';
import { openTranslatingRelay } from './translating-relay.ts';

/** Options of {@link openBridge}. */
export interface BridgeOptions extends HostStreams {
  /** URL of the MCP server. */
  url: string;
  /** A fetch with the login, see `withAuthorization`. */
  fetch: Fetch;
  /** See `ServerTransportOptions`. */
  eventStreamFetch?: Fetch | undefined;
  limits?: AnswerLimits | undefined;
  /** Shows a line to the person behind the host, outside the protocol. */
  say(line: string): void;
}

/** A connection between a host and a server. */
export interface Bridge {
  /** Resolves after the host has gone and everything has ended. */
  ended: Promise<void>;
  /** Ends the connection early. */
  close(): Promise<void>;
}

/** Maximum number of attempts to open a stream of the server again: about two minutes. */
const maxStreamRetries = 10;

/** Maximum time for open requests after the host has closed its output, in milliseconds. */
const patienceMs = 10_000;

/**
 * Opens the connection for a host: its first message decides the revision. A host up to 2025-11-25 reaches
 * servers of its own revisions over streamable HTTP or HTTP+SSE, and those of 2026-07-28 through translation.
 */
async function openRelay(
  request: JSONRPCRequest,
  options: BridgeOptions,
  host: HostSide,
): Promise<Relay | JSONRPCMessage> {
  const { url, fetch, limits, eventStreamFetch } = options;
  const server: ServerTransportOptions = { url, fetch, eventStreamFetch, limits, maxStreamRetries };
  const asWritten: ServerTransportOptions = { ...server, markedNumbers: 'all' };
  const meta = Object(request.params?._meta) as Record<string, unknown>;
  if (request.method !== 'initialize' && PROTOCOL_VERSION_META_KEY in meta)
    return openModernRelay(asWritten, host);

  const streamable = await openStreamableRelay(asWritten, request, host);
  if ('relay' in streamable) return streamable.relay;
  const { refused } = streamable;
  if (!streamable.mayBeOther)
    return streamable.answer ?? failedAnswer(request.id, explainHttpRefusal(refused, url));
  const translating = await openTranslatingRelay(
    { ...server, markedNumbers: 'content' },
    request,
    host,
  ).catch(() => undefined);
  if (translating) return translating;
  const eventStream = await openEventStreamRelay(asWritten, request, host);
  if ('relay' in eventStream) return eventStream.relay;
  const why = mayBeEventStreamServer(refused) ? noEndpoint(refused, url) : explainHttpRefusal(refused, url);
  return streamable.answer ?? eventStream.answer ?? failedAnswer(request.id, why);
}

/**
 * Lets a host that only supports stdio reach a server over HTTP, with any revisions of the two (B1-02,
 * B5-16).
 * @param options the host's streams, and the server
 */
export function openBridge(options: BridgeOptions): Bridge {
  const { promise: ended, resolve: sayEnded } = Promise.withResolvers<void>();
  const unanswered = new Set<RequestId>();
  let relay: Promise<Relay | undefined> | undefined;
  let current: Relay | undefined;
  let isFinished = false;
  let closing: Promise<void> | undefined;

  const close = (): Promise<void> => {
    closing ??= (async () => {
      options.stdin.pause();
      await current?.end().catch(() => undefined);
      sayEnded();
    })();
    return closing;
  };
  const host: HostSide = {
    say: options.say,
    write: (message) => {
      channel.write(message);
      if (!('method' in message) && message.id !== undefined) unanswered.delete(message.id);
      if (isFinished && unanswered.size === 0) void close();
    },
  };
  const open = (request: JSONRPCRequest): Promise<Relay | undefined> =>
    openRelay(request, options, host)
      .catch((failure: unknown) => failedAnswer(request.id, failure))
      .then((opened) => {
        if (!('take' in opened)) {
          host.write(opened);
          return undefined;
        }
        current = opened;
        // The host may have gone while a person was logging in.
        if (closing) void opened.end();
        return opened;
      });

  const heard = (message: JSONRPCMessage): void => {
    const isRequest = isJSONRPCRequest(message);
    if (isRequest) unanswered.add(message.id);
    if (isRequest && message.method === 'initialize') {
      // A host that only asked for the server's capabilities may still initialize an older revision.
      void relay?.then((before) => before?.end());
      relay = open(message);
      return;
    }
    if (isRequest && !relay && message.method === 'ping') {
      host.write({ jsonrpc: '2.0', id: message.id, result: {} });
      return;
    }
    if (isRequest) relay ??= open(message);
    void relay?.then((opened) => {
      if (opened) opened.take(message);
      else if (isRequest && unanswered.has(message.id))
        host.write(failedAnswer(message.id, new Error('There is no connection to the server.')));
    });
  };
  const channel = new HostChannel(options, {
    heard,
    finished: () => {
      isFinished = true;
      if (unanswered.size === 0) void close();
      else setTimeout(() => void close(), patienceMs).unref();
    },
    gone: () => void close(),
  });
  return { ended, close };
}
