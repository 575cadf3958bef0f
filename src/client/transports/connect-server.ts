import {
  Client,
  type ClientCapabilities,
  type ClientOptions,
  type ProtocolEra,
} from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import {
  brokeAtProbe,
  describeNoCommonRevision,
  explainHttpRefusal,
  mayBeEventStreamServer,
  noEndpoint,
  revisionsOffered,
  speaksOlderRevision,
} from './connect-errors.ts';
import {
  createServerTransport,
  type HttpTransportKind,
  type ServerTransportOptions,
} from './server-transports.ts';

/** What connecting to a server found out; it holds for one URL, and for one login. */
export interface KnownServer {
  transport: HttpTransportKind;
  /** `legacy` up to 2025-11-25, `modern` from 2026-07-28. */
  era: ProtocolEra;
}

/** What a connection needs. */
export interface ConnectServerOptions extends ServerTransportOptions {
  /** How the client names itself to the server. */
  clientInfo: { name: string; version: string };
  /** The transport; without one streamable HTTP is tried, then the old HTTP+SSE. */
  transport?: HttpTransportKind | undefined;
  /** Options of the SDK's client: capabilities, cache and more. */
  client?: Omit<ClientOptions, 'versionNegotiation'> | undefined;
  /**
   * Extensions of MCP that the login uses, declared to the server: `clientCredentialsExtension`,
   * `enterpriseManagedExtension`. None by default (A13-11).
   */
  extensions?: readonly string[] | undefined;
  /** Sets up each client before it connects: handlers for sampling, elicitation, roots and notifications. */
  prepare?: ((client: Client) => void) | undefined;
  /** Longest wait for the server to say which revision it speaks, in milliseconds; 60 s unless told. */
  timeoutMs?: number | undefined;
  /** What an earlier connection found out: a server of older revisions is then not asked for newer ones first (C3-09). */
  known?: KnownServer | undefined;
}

/** A connection to an MCP server. */
export interface ServerConnection {
  client: Client;
  /** The transport the server turned out to speak. */
  transport: HttpTransportKind;
  /** For the next connection to the same server. */
  known: KnownServer;
  /** Ends the session and the connection. */
  close(): Promise<void>;
}

async function open(
  options: ConnectServerOptions,
  transport: HttpTransportKind,
  mode: 'auto' | 'legacy',
): Promise<ServerConnection> {
  const client = new Client(options.clientInfo, {
    ...options.client,
    capabilities: declaring(options.extensions, options.client?.capabilities),
    versionNegotiation: { mode },
  });
  options.prepare?.(client);
  const wire = createServerTransport(transport, options);
  try {
    await client.connect(wire, options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs });
  } catch (error) {
    await wire.close();
    throw error;
  }
  return {
    client,
    transport,
    known: { transport, era: client.getProtocolEra() ?? 'legacy' },
    async close() {
      await wire.end();
      await client.close();
    },
  };
}

/** What the client can do, with the extensions in it (A13-01, A13-04). */
function declaring(names: readonly string[] = [], capabilities: ClientCapabilities = {}): ClientCapabilities {
  if (names.length === 0) return capabilities;
  const extensions = Object.fromEntries(names.map((name) => [name, {}]));
  return { ...capabilities, extensions: { ...extensions, ...capabilities.extensions } };
}

async function openHttp(options: ConnectServerOptions): Promise<ServerConnection> {
  try {
    return await open(options, 'http', 'auto');
  } catch (error) {
    if (!brokeAtProbe(error) && !speaksOlderRevision(error)) throw error;
    return await open(options, 'http', 'legacy');
  }
}

/** @returns the connection to a server that is as old as it was; undefined where it may have changed */
async function openKnown(options: ConnectServerOptions): Promise<ServerConnection | undefined> {
  const { known, transport = known?.transport } = options;
  if (known?.era !== 'legacy' || transport !== known.transport) return undefined;
  return open(options, known.transport, 'legacy').catch((error: unknown) => {
    if (error instanceof ClientError) throw error;
    return undefined;
  });
}

/** The SDK's errors do not always name the revisions, nor the status. */
function explained(error: unknown, url: string): unknown {
  const offered = revisionsOffered(error);
  if (offered)
    return new ClientError('server_error', `${url}: ${describeNoCommonRevision(offered)}`, { cause: error });
  return explainHttpRefusal(error, url);
}

/**
 * Connects to an MCP server by its URL, whatever its revision and transport: 2026-07-28, else `initialize` over
 * streamable HTTP, else the old HTTP+SSE. A server that asks for a login is not an old one.
 * @param options where to, as whom, and what the client can do
 * @returns the connection, which its caller closes
 * @throws ClientError; what the given fetch and the SDK throw
 * @see MCP transports "Backwards Compatibility" (B1-09, B5-15, B6-01, C3-08, C3-09)
 */
export async function connectServer(options: ConnectServerOptions): Promise<ServerConnection> {
  return connect(options).catch((error: unknown) => {
    throw revisionsOffered(error) ? explained(error, options.url) : error;
  });
}

async function connect(options: ConnectServerOptions): Promise<ServerConnection> {
  const { transport, url } = options;
  const asBefore = await openKnown(options);
  if (asBefore) return asBefore;
  if (transport === 'sse') return open(options, 'sse', 'legacy');
  if (transport === 'rest') return open(options, 'rest', 'auto');
  try {
    return await openHttp(options);
  } catch (error) {
    if (transport === 'http' || !mayBeEventStreamServer(error)) throw explained(error, url);
    return await open(options, 'sse', 'legacy').catch((failure: unknown) => {
      if (failure instanceof ClientError && failure.reason !== 'timed_out') throw failure;
      throw noEndpoint(error, url);
    });
  }
}

/**
 * Opens an MCP connection, see {@link connectServer}, and does one thing with it.
 * @param options where to, as whom, and what the client can do
 * @param work what to do with the client
 * @returns what the work returned; the session is ended before
 * @throws what connecting and the work throw
 * @see MCP lifecycle; MCP transports "Streamable HTTP"
 */
export async function withMcpConnection<T>(
  options: ConnectServerOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connection = await connectServer(options);
  try {
    return await work(connection.client);
  } finally {
    await connection.close();
  }
}
