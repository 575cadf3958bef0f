import { FairQueue } from '../../../collections/fair-queue.ts';
import { HeldBytes } from '../../../mcp/building-blocks.ts';
import { createWriteBatcher } from '../../../net/write-batcher.ts';
import { type AuthInfo, accountKeyPrefix } from '../../../oauth/auth-info.ts';
import type { Logger } from '../../../observability/logger.ts';
import { type AssertCaller, assertWithoutKeys } from '../../credentials/caller-assertion.ts';
import {
  checkNames,
  createCallerHeaders,
  headersOfCaller,
  type RemoteCallerOptions,
} from '../../credentials/caller-values.ts';
import type { CredentialSource, Credentials } from '../../credentials/credentials.ts';
import type { FailureDetail } from '../../modern/modern-link.ts';
import { createModernSource, type LegacySource } from '../../modern/modern-source.ts';
import { defaultMaxAnswerValues, type FullLimit } from '../backend-errors.ts';
import { createFailures, type GatewayBackend } from '../gateway-backend.ts';
import { Restarts } from '../restarts.ts';
import { EventStreamLink } from './event-stream-link.ts';
import { createHttpLink } from './http-link.ts';
import {
  isFreeHeader,
  type Link,
  type LinkKind,
  type LinkListener,
  type LinkParts,
  ownHeaders,
  type RemoteHeaders,
} from './link.ts';
import { RemoteServer } from './remote-server.ts';
import { RestLink } from './rest.ts';
import { StreamableHttpLink } from './streamable-http.ts';
import { Wire } from './wire.ts';

/** Options of a backend with a URL. */
export interface RemoteBackendOptions {
  url: string;
  /** Protocol of the server. By default (`auto`) it is detected, except for Rest, and remembered. */
  transport?: 'auto' | LinkKind;
  /** Headers of every request: a value, or the place of a value. */
  headers?: RemoteHeaders;
  /** Data about the caller in each request; none by default. */
  caller?: RemoteCallerOptions | undefined;
  /**
   * Maximum number of connections; 1000 by default. Half are for calls and half for streams, and an account has at most
   * a fifth of each.
   */
  maxConnections?: number;
  /** Maximum time to connect, in milliseconds; 10 s by default. */
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
   * Maximum time to the head of a response, in milliseconds; 10 minutes by default, because some servers send it only
   * after the tool is done.
   */
  headMs?: number;
  /** Maximum time for the rest of a response that is no stream, in milliseconds; 60 s by default. */
  bodyMs?: number;
  /** Maximum length of a response, and of an event of a stream, in bytes; 16 MiB by default. */
  maxAnswerBytes?: number;
  /** Maximum number of values in a response, arrays and objects included; 50,000 by default. */
  maxAnswerValues?: number;
  /** Reason for plain HTTP on the public internet, which is rejected by default. */
  dangerouslyPlainHttpBecause?: string | undefined;
}

/** Dependencies of a backend with a URL. */
interface RemoteBackendParts {
  logger: Logger;
  /** Credentials of each caller; none by default. */
  credentials?: CredentialSource;
  /** Signs assertions about callers. */
  assert?: AssertCaller | undefined;
  /** Counts the bytes of incoming responses, also for other backends; a counter of its own by default. */
  held?: HeldBytes | undefined;
}

const links = { http: StreamableHttpLink, sse: EventStreamLink, rest: RestLink } as const;

const accountShare = 5;

/** Maximum number of messages of a conversation that wait for its session. */
const maxHeld = 100;

/**
 * Creates a backend with a URL. Each MCP session has its own session at the server; requests of one account and client
 * outside of sessions share one. Only the MCP messages of a caller's request are passed on.
 * @param name name in errors and in the log
 * @throws Error if the URL or a header cannot be used
 */
export function createRemoteBackend(
  name: string,
  options: RemoteBackendOptions,
  { logger, credentials, assert = assertWithoutKeys, held = new HeldBytes() }: RemoteBackendParts,
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
  const { caller } = options;
  const ofCaller = caller ? headersOfCaller(caller) : [];
  for (const header of ofCaller)
    if (!isFreeHeader(header)) throw new Error(`The header ${header} cannot be set: a request has its own.`);
  checkNames('header', [
    ...[...Object.keys(options.headers ?? {}), ...ofCaller].map((header) => header.toLowerCase()),
  ]);
  const addCallerValues = caller && createCallerHeaders(caller, assert);
  /** @param sender of the message, whose data may be newer than that of the owner of the session */
  const findCredentials = async (owner: AuthInfo, sender: AuthInfo) => {
    const found = credentials ? await credentials.find(owner) : {};
    return 'error' in found || !addCallerValues ? found : addCallerValues(found, sender);
  };
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
    for (const server of servers.get(accountKeyPrefix(owner)) ?? []) server.replace();
  });

  const older: LegacySource = {
    sharing: 'principal',
    create({ authInfo }, start) {
      const account = authInfo ? accountKeyPrefix(authInfo) : '';
      const own = servers.get(account) ?? new Set();
      servers.set(account, own);
      const server = new RemoteServer({
        name,
        ...(authInfo &&
          (credentials || caller) && {
            credentials: (sender: AuthInfo = authInfo) => findCredentials(authInfo, sender),
          }),
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
        warnOfTooMuchOutput: () =>
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
    credentials: (authInfo) => findCredentials(authInfo, authInfo),
  });
  const speaksHttp = transport === 'auto' || transport === 'http';
  const worked = (): void => failures.mended();

  return {
    source: speaksHttp
      ? createModernSource({
          ...{ name, legacy: older, link, worked, noteFailure, startMs },
          isPersonal: caller !== undefined,
        })
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

/** Maximum number of warnings about one backend in a window; further ones are counted (T-156). */
const maxOfWindow = 50;
const windowMs = 10_000;

/** Writes a warning with its details. */
type Warn = (details: Readonly<Record<string, unknown>>, sentence: string) => void;

/**
 * Creates a log of warnings that a failing server cannot fill.
 * @param backend name of the backend
 */
export function createBoundedWarnings(
  backend: string,
  logger: Pick<Logger, 'warn'>,
  nowMs: () => number = () => performance.now(),
): Warn {
  let endsAtMs = 0;
  let written = 0;
  let dropped = 0;
  return (details, sentence) => {
    if (nowMs() >= endsAtMs) {
      endsAtMs = nowMs() + windowMs;
      written = 0;
    }
    if (++written > maxOfWindow) {
      dropped++;
      return;
    }
    logger.warn({ backend, ...details, ...(dropped > 0 && { droppedLines: dropped }) }, sentence);
    dropped = 0;
  };
}

/** Limits of the running requests and streams of a server. */
interface ConnectionLimits {
  /** The setting that the other limits are derived from. */
  maxConnections: number;
  /** Maximum number of calls, and of streams. */
  total: number;
  perAccount: number;
  /** Maximum number of messages of one conversation that wait for its session. */
  maxHeld: number;
}

/** Names the reached limit and its setting in the log. */
export function describeFull(
  full: FullLimit,
  { maxConnections, total, perAccount, maxHeld }: ConnectionLimits,
): string {
  const raise = `raise maxConnections of the backend, which is ${maxConnections}`;
  switch (full) {
    case 'calls':
      return `an account may have ${perAccount} calls under way and ${total} that wait: ${raise}`;
    case 'streams':
      return `an account may have ${perAccount} streams open, all together ${total}: ${raise}`;
    case 'session_start':
      return `${maxHeld} messages may wait for a session to begin, which no setting changes: look why the server begins it so late`;
  }
}
