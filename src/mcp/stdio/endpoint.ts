import type { Readable, Writable } from 'node:stream';
import { LineReader } from '../../collections/line-reader.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';
import type { Logger } from '../../observability/logger.ts';
import { isRefusal, type Refusal, sendRefusal } from '../http/refusal.ts';
import { type Conversations, isElsewhere, type Message, type ServerSource } from '../protocol.ts';
import { readLine } from '../reading/lines.ts';
import { createServedMethods, type OpenMethods, type ServedMethods } from '../reading/methods.ts';
import { guardConversations } from '../sdk/conversation-filters.ts';
import { createConversations } from '../sdk/conversations.ts';
import { EraSwitch } from './era-switch.ts';
import { LineWriter, Unanswered } from './lines.ts';

/** Options of a stdio endpoint. */
export interface StdioEndpointOptions {
  /** Makes the server of 2026-07-28. */
  source: ServerSource;
  /** Serves the revisions up to 2025-11-25. They belong to the endpoint, which closes them. */
  conversations: Conversations;
  /** Methods allowed in messages of 2026-07-28; the methods of MCP by default. */
  served?: ServedMethods;
  stdin: Readable;
  stdout: Writable;
  /** The account the host acts for; see `callerOf`. */
  authInfo?: AuthInfo;
  /** Longest line, in bytes; 4 MiB by default. */
  maxLineBytes?: number;
  logger: Logger;
}

/** An MCP server on standard input and output. */
export interface StdioEndpoint {
  /** Resolves when the host has closed standard input or output, and everything has ended. */
  ended: Promise<void>;
  /** Cancels running requests, and ends. */
  close(): Promise<void>;
}

/** Time for the last requests after the end of standard input, in milliseconds. */
const patienceMs = 500;

/**
 * Serves MCP to a local host: one JSON-RPC message a line, every revision, until standard input ends.
 * @see MCP transports "stdio" (B1-01 to B1-07, T-150)
 */
export function createStdioEndpoint(options: StdioEndpointOptions): StdioEndpoint {
  const { source, conversations, stdin, stdout, authInfo, maxLineBytes = 4 * 1024 * 1024, logger } = options;
  const { promise: ended, resolve: sayEnded } = Promise.withResolvers<void>();
  const waiting: (Uint8Array | Refusal)[] = [];
  let waitingBytes = 0;
  let taking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const end = async (): Promise<void> => {
    stdin.off('data', read).pause();
    waiting.length = 0;
    try {
      await server.end();
      await conversations.close();
    } catch (error) {
      logger.warn({ err: error }, 'the stdio connection failed to end');
    }
    await writer.flush();
    sayEnded();
  };
  const close = (): Promise<void> => {
    closing ??= end();
    return closing;
  };
  const writer = new LineWriter(stdout, () => void close());
  const unanswered = new Unanswered();
  const write = (message: Message | readonly Message[]): void => {
    writer.write(message);
    unanswered.answered(message);
  };
  const onEnded = (): void => void close();
  const server = new EraSwitch({
    source,
    conversations,
    served: options.served ?? createServedMethods(),
    write,
    onEnded,
    ...(authInfo && { authInfo }),
    logger,
  });

  const take = async (line: Uint8Array | Refusal): Promise<void> => {
    const messages = isRefusal(line) ? line : readLine(line, isElsewhere(source));
    if (messages === undefined) return;
    if (isRefusal(messages)) {
      sendRefusal(messages, { json: (_status, body) => writer.write(body) });
      return;
    }
    unanswered.asked(messages);
    await server.take(messages);
  };
  const takeAll = async (): Promise<void> => {
    for (let line = waiting.shift(); line && !closing; line = waiting.shift()) {
      if (!isRefusal(line)) waitingBytes -= line.length;
      await take(line).catch((error) => logger.error({ err: error }, 'a line could not be served'));
    }
    taking = undefined;
    if (closing) return;
    if (writer.isFull) {
      stdin.pause();
      writer.onDrain(() => stdin.resume());
    } else stdin.resume();
  };

  const reader = new LineReader(maxLineBytes, {
    line(bytes) {
      waiting.push(bytes);
      waitingBytes += bytes.length;
    },
    tooLong: () => waiting.push({ reason: 'body_too_large' }),
  });
  const read = (chunk: Buffer): void => {
    reader.push(chunk);
    if (waitingBytes > maxLineBytes) stdin.pause();
    if (waiting.length > 0) taking ??= takeAll();
  };
  const finish = async (): Promise<void> => {
    await unanswered.settled(patienceMs, () => taking);
    await close();
  };
  stdin.on('data', read);
  stdin.once('end', () => void finish());
  stdin.once('close', () => void finish());
  stdin.on('error', () => void close());
  return { ended, close };
}

/** Options for serving a local host. */
export interface LocalEndpointOptions {
  source: ServerSource;
  /** The account of the host, with every scope of the server: the user who starts this process owns its data. */
  account: { id: string; email?: string | undefined; scopes: readonly string[] };
  /** Methods that the server's code opened; none by default. */
  methods?: OpenMethods;
  /** Issuer of the accounts. */
  issuer: string;
  /** URL of the MCP endpoint of the same server. */
  resource: string;
  stdin: Readable;
  stdout: Writable;
  logger: Logger;
}

/** Expiry of an access that ends with its process: the last second of the year 9999. */
const neverSeconds = 253_402_300_799;

/** The client of every local host. */
const localClientId = 'stdio';

/**
 * Serves an MCP server to a local host over standard input and output. There is no OAuth on it: the host acts for one
 * account, which `callerOf` gives to the tools as over HTTP.
 * @see MCP authorization "Protocol Requirements": stdio takes credentials from the environment
 */
export function createLocalEndpoint(options: LocalEndpointOptions): StdioEndpoint {
  const { source, account, issuer, resource, stdin, stdout, logger } = options;
  const authInfo: AuthInfo = {
    issuer,
    subject: account.id,
    ...(account.email !== undefined && { email: account.email, emailVerified: false }),
    clientId: localClientId,
    scopes: account.scopes,
    audience: resource,
    expiresAt: neverSeconds,
  };
  const served = createServedMethods(options.methods);
  const conversations = guardConversations(createConversations({ source, logger }), served, logger);
  return createStdioEndpoint({ source, conversations, served, stdin, stdout, authInfo, logger });
}
