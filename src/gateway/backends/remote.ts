import { FairQueue } from '../../collections/fair-queue.ts';
import { HeldBytes } from '../../mcp/building-blocks.ts';
import { createWriteBatcher } from '../../net/write-batcher.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CredentialSource, Credentials } from '../credentials/credentials.ts';
import { createHttpLink } from '../modern/http-link.ts';
import type { FailureDetail } from '../modern/modern-link.ts';
import { createModernSource, type LegacySource } from '../modern/modern-source.ts';
import { defaultMaxAnswerValues } from './failure-of-answer.ts';
import { createFailures } from './failures.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { createBoundedWarnings } from './remote/bounded-warnings.ts';
import { EventStreamLink } from './remote/event-stream-link.ts';
import { describeFull } from './remote/full-limits.ts';
import type { Link, LinkKind, LinkListener, LinkParts } from './remote/link.ts';
import { ownHeaders, type RemoteHeaders } from './remote/own-headers.ts';
import { RemoteServer } from './remote/remote-server.ts';
import { RestLink } from './remote/rest.ts';
import { StreamableHttpLink } from './remote/streamable-http.ts';
import { Wire } from './remote/wire.ts';
import { Restarts } from './restarts.ts';

/** An MCP server that is reached by URL. */
export interface RemoteBackendOptions {
  url: string;
  /** Protocol of the server; with `auto`, the default, it is detected and remembered. Rest is not detected. */
  transport?: 'auto' | LinkKind;
  /** Headers of every request to it: a value, or where the value stands. */
  headers?: RemoteHeaders;
  /** Most connections to it; 1000 by default: half for calls, half for streams. An account has a fifth of each at most. */
  maxConnections?: number;
  /** Milliseconds until a connection must be usable; 10 s by default. */
  connectMs?: number;
  /**
   * Milliseconds that the response to `initialize` may take; 50 s by default, less than clients wait. The time for
   * detecting its revisions counts.
   */
  startMs?: number;
  /**
   * Seconds of silence until a session is pinged; 60 by default, 0 for never. A session that misses pings is replaced.
   */
  pingSeconds?: number;
  /**
   * Milliseconds until the head of a response; 10 minutes by default: some servers send it only after the tool is done.
   */
  headMs?: number;
  /** Milliseconds for the rest of a response that is no stream; 60 s by default. */
  bodyMs?: number;
  /** Longest answer, and longest event of a stream, in bytes; 16 MiB by default. */
  maxAnswerBytes?: number;
  /** Most values in an answer, arrays and objects included; 50,000 by default. */
  maxAnswerValues?: number;
  /** Reason for allowing http on the public internet; refused by default. */
  dangerouslyPlainHttpBecause?: string | undefined;
}

/** Options of a backend by URL. */
export interface RemoteBackendParts {
  logger: Logger;
  /** Headers on behalf of each caller; none by default. */
  credentials?: CredentialSource;
  /** Counts the bytes of answers, those of other backends among them; of this one alone by default. */
  held?: HeldBytes | undefined;
}

const links = { http: StreamableHttpLink, sse: EventStreamLink, rest: RestLink } as const;

const accountShare = 5;

/** Most messages of one conversation that wait for a session to begin. */
const maxHeld = 100;

/**
 * Creates a backend that is reached by URL: a session there for each MCP session here, and one for the requests of an
 * account with a client that belong to none. Nothing of the caller's own request goes there but its MCP messages.
 * @param name what it is called in errors and in the log
 * @throws Error if the URL or a header cannot be used
 */
export function createRemoteBackend(
  name: string,
  options: RemoteBackendOptions,
  { logger, credentials, held = new HeldBytes() }: RemoteBackendParts,
): GatewayBackend {
  const { transport = 'auto', maxConnections = 1000, startMs = 50_000 } = options;
  const { maxAnswerBytes = 16 * 1024 * 1024, maxAnswerValues = defaultMaxAnswerValues } = options;
  if (!Number.isInteger(maxConnections) || maxConnections < 2)
    throw new RangeError('maxConnections: must be a whole number from 2');
  const url = new URL(options.url);
  const wire = new Wire({
    url,
    connectMs: options.connectMs ?? 10_000,
    headMs: options.headMs ?? 600_000,
    bodyMs: options.bodyMs ?? 60_000,
    allowsPlainHttp: options.dangerouslyPlainHttpBecause !== undefined,
  });
  const fixed = ownHeaders(options.headers ?? {}, process.env);
  const failures = createFailures(() => Math.floor(Date.now() / 1000));
  const total = Math.floor(maxConnections / 2);
  const perAccount = Math.ceil(total / accountShare);
  const perCaller = { running: perAccount, waiting: total };
  const lanes = new FairQueue({ running: total, waiting: total * accountShare, perCaller });
  const sendTogether = createWriteBatcher();
  const streams = new FairQueue({
    running: total,
    waiting: 0,
    perCaller: { running: perAccount, waiting: 0 },
  });
  const servers = new Map<string, Set<RemoteServer>>();
  const restarts = new Restarts(() => performance.now());
  let known: LinkKind | undefined;

  const warn = createBoundedWarnings(name, logger);
  const { origin } = url;
  const noteFailure = ({ reason, status, code, location, address, full }: FailureDetail): void => {
    failures.note(reason);
    const limit = full && describeFull(full, { maxConnections, total, perAccount, maxHeld });
    warn({ reason, limit, status, errorCode: code, origin, address, location }, 'a backend did not answer');
  };
  const makeLink = (kind: LinkKind, account: string, given: Credentials, listener: LinkListener): Link => {
    const parts: LinkParts = {
      wire,
      url,
      headers: fixed,
      credentials: given,
      account,
      lanes,
      sendTogether,
      streams,
      maxHeld,
      maxAnswerBytes,
      maxAnswerValues,
      held,
      noteFailure,
      noteUnreadable: (bytes) => warn({ bytes }, 'a backend sent something that is no MCP message'),
    };
    return new links[kind](parts, listener);
  };
  const kinds = (): readonly LinkKind[] => {
    if (transport !== 'auto') return [transport];
    return known === 'sse' ? ['sse', 'http'] : ['http', 'sse'];
  };
  const stopListening = credentials?.onChange((owner) => {
    link.renew(owner);
    for (const server of servers.get(accountKeyPrefix(owner)) ?? []) server.startAnew();
  });

  const older: LegacySource = {
    sharing: 'principal',
    create({ authInfo }, start) {
      const account = authInfo ? accountKeyPrefix(authInfo) : '';
      const own = servers.get(account) ?? new Set();
      servers.set(account, own);
      const server = new RemoteServer({
        name,
        ...(authInfo && credentials && { credentials: () => credentials.find(authInfo) }),
        kinds,
        makeLink: (kind, given, listener) => makeLink(kind, account, given, listener),
        startMs: start.startMs,
        pingMs: (options.pingSeconds ?? 60) * 1000,
        account,
        restarts,
        maxHeld,
        worked(kind) {
          known = kind;
          failures.mended();
        },
        noteFailure,
        noteFlood: () =>
          warn({}, 'a backend says too much unasked; what is beyond its share of this second is dropped'),
        closed() {
          own.delete(server);
          if (own.size === 0) servers.delete(account);
        },
      });
      own.add(server);
      return server;
    },
  };
  const link = createHttpLink({
    name,
    wire,
    url,
    headers: fixed,
    lanes,
    streams,
    maxAnswerBytes,
    maxAnswerValues,
    held,
    credentials: async (caller) => (credentials ? credentials.find(caller) : {}),
  });
  const speaksHttp = transport === 'auto' || transport === 'http';
  const worked = (): void => failures.mended();

  return {
    source: speaksHttp
      ? createModernSource({ name, legacy: older, link, worked, noteFailure, startMs })
      : { ...older, create: (context) => older.create(context, { startMs: () => startMs, saidModern() {} }) },
    status: () => ({
      kind: known ?? (transport === 'auto' ? 'http' : transport),
      state: failures.isFailing ? 'failing' : servers.size > 0 ? 'running' : 'idle',
      connections: lanes.running + streams.running,
      failures: failures.count(),
    }),
    async close() {
      stopListening?.();
      await link.close();
      await Promise.all([...servers.values()].flatMap((own) => [...own].map((server) => server.close())));
      wire.close();
    },
  };
}
