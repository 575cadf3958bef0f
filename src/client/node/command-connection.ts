import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { ClientError } from '../client-error.ts';
import { describeFailure } from '../network-failure.ts';
import type { ConnectServerOptions } from '../transports/connect-server.ts';
import {
  describeNoCommonRevision,
  revisionsOffered,
  speaksOlderRevision,
} from '../transports/version-refusal.ts';
import { CommandTransport } from './command-transport.ts';

/** A server that is a program on this machine. */
export interface CommandConnectionOptions
  extends Pick<ConnectServerOptions, 'clientInfo' | 'client' | 'prepare' | 'timeoutMs' | 'markedNumbers'> {
  /** The program, and its arguments; no shell reads them. */
  command: readonly string[];
  /** Its whole environment. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Longest wait for a server to say which revision it speaks; older ones may say nothing at all. Milliseconds. */
const probeMs = 5_000;

/** Starts the program and connects to it. @throws ClientError `unreachable`; what the SDK throws */
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

/** Whether the program ended when it was asked for a revision that it does not know. */
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
 * Starts a server, connects over its standard input and output, and does one thing there. What it writes to standard
 * error goes to ours.
 * @param options the program, and what the client can do
 * @param work what to do with the client
 * @returns what the work returned; the program has ended
 * @throws ClientError `unreachable` where the program cannot be started, `server_error` where it speaks no revision of
 *   ours; what connecting and the work throw
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
