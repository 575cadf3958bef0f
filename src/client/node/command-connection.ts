import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import { describeFailure } from '../network-failure.ts';
import {
  describeNoCommonRevision,
  revisionsOffered,
  speaksOlderRevision,
} from '../transports/connect-errors.ts';
import type { ConnectServerOptions } from '../transports/connect-server.ts';
import { CommandTransport } from './command-transport.ts';

/** Options of {@link withCommandConnection}. */
export interface CommandConnectionOptions
  extends Pick<ConnectServerOptions, 'clientInfo' | 'client' | 'prepare' | 'timeoutMs' | 'markedNumbers'> {
  /** The program and its arguments, run without a shell. */
  command: readonly string[];
  /** Its complete environment. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Maximum wait for a server to tell its revision, in milliseconds; older ones may not respond at all. */
const probeMs = 5_000;

/**
 * Starts the program and connects to it.
 * @throws ClientError `unreachable`; the errors of the SDK
 */
async function open(
  { command, env, markedNumbers, ...options }: CommandConnectionOptions,
  mode: 'auto' | 'legacy',
): Promise<Client> {
  const client = new Client(options.clientInfo, {
    ...options.client,
    versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
  });
  options.prepare?.(client);
  const transport = new CommandTransport({ command, env, markedNumbers });
  try {
    await client.connect(transport, options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs });
    return client;
  } catch (error) {
    await client.close();
    const { code } = Object(error) as { code?: unknown };
    if (code !== 'ENOENT' && code !== 'EACCES') throw error;
    const why = code === 'ENOENT' ? 'there is no such program' : describeFailure(error);
    throw new ClientError('unreachable', `${command[0]} cannot be started: ${why}.`, { cause: error });
  }
}

/** Returns true if the program ended when it was asked for a revision that it does not know. */
function endedAtProbe(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

async function openInCommonRevision(options: CommandConnectionOptions): Promise<Client> {
  try {
    return await open(options, 'auto');
  } catch (error) {
    if (speaksOlderRevision(error) || endedAtProbe(error)) return open(options, 'legacy');
    const offered = revisionsOffered(error);
    if (!offered) throw error;
    throw new ClientError('server_error', `${options.command[0]}: ${describeNoCommonRevision(offered)}`, {
      cause: error,
    });
  }
}

/**
 * Starts a server program, connects over its standard input and output, and runs work with the client. Its
 * standard error goes to ours.
 * @param options the program, and the client's capabilities
 * @param work uses the client
 * @returns the result of the work, after the program has ended
 * @throws ClientError `unreachable` if the program cannot be started, `server_error` if it supports no common
 *   revision; the errors of the connection and the work
 * @see MCP transports "stdio" (A1-02, B1-05, B1-09, C3-08)
 */
export async function withCommandConnection<T>(
  options: CommandConnectionOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await openInCommonRevision(options);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
