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

/** The result of connecting to a server, for one URL and one login. */
export interface KnownServer {
  transport: HttpTransportKind;
  /** `legacy` up to 2025-11-25, `modern` from 2026-07-28. */
  era: ProtocolEra;
}

/** Options of {@link connectServer}. */
export interface ConnectServerOptions extends ServerTransportOptions {
  /** Name and version of the client. */
  clientInfo: { name: string; version: string };
  /** The transport; by default streamable HTTP, then the old HTTP+SSE. */
  transport?: HttpTransportKind | undefined;
  /** Options of the SDK's client: capabilities, cache and more. */
  client?: Omit<ClientOptions, 'versionNegotiation'> | undefined;
  /**
   * MCP extensions of the login, which are declared to the server: `clientCredentialsExtension`,
   * `enterpriseManagedExtension`. None by default (A13-11).
   */
  extensions?: readonly string[] | undefined;
  /** Sets up each client before it connects: handlers for sampling, elicitation, roots and notifications. */
  prepare?: ((client: Client) => void) | undefined;
  /** Maximum wait for the server to tell its revision, in milliseconds (default 60 s). */
  timeoutMs?: number | undefined;
  /**
   * The result of an earlier connection: a server of an older revision is then not asked for newer ones first
   * (C3-09).
   */
  known?: KnownServer | undefined;
}

/** A connection to an MCP server. */
export interface ServerConnection {
  client: Client;
  /** The transport that the server supports. */
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

/** Returns the client's capabilities with the extensions (A13-01, A13-04). */
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

/** Connects to a server in its known revision; undefined if it may have changed. */
async function openKnown(options: ConnectServerOptions): Promise<ServerConnection | undefined> {
  const { known, transport = known?.transport } = options;
  if (known?.era !== 'legacy' || transport !== known.transport) return undefined;
  return open(options, known.transport, 'legacy').catch((error: unknown) => {
    if (error instanceof ClientError) throw error;
    return undefined;
  });
}

/** The SDK's errors do not always contain the revisions or the status. */
function explained(error: unknown, url: string): unknown {
  const offered = revisionsOffered(error);
  if (offered)
    return new ClientError('server_error', `${url}: ${describeNoCommonRevision(offered)}`, { cause: error });
  return explainHttpRefusal(error, url);
}

/**
 * Connects to an MCP server by its URL, with any revision and transport: 2026-07-28, else `initialize` over
 * streamable HTTP, else the old HTTP+SSE. A server that requires a login is not taken for an old one.
 * @param options the server, and the client's name and capabilities
 * @returns the connection, which its caller closes
 * @throws ClientError; the errors of the given fetch and the SDK
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
 * Opens an MCP connection for some work, see {@link connectServer}.
 * @param options the server, and the client's name and capabilities
 * @param work uses the client
 * @returns the result of the work, after the session has ended
 * @throws the errors of the connection and the work
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
