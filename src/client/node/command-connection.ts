import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ClientError } from '../client-error.ts';
import { describeFailure } from '../network-failure.ts';
import type { ConnectServerOptions } from '../transports/connect-server.ts';

/** A server that is a program on this machine. */
export interface CommandConnectionOptions
  extends Pick<ConnectServerOptions, 'clientInfo' | 'client' | 'prepare' | 'timeoutMs'> {
  /** The program, and its arguments; no shell reads them. */
  command: readonly string[];
  /** Its whole environment. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Longest wait for a server to say which revision it speaks; older ones may say nothing at all. Milliseconds. */
const probeMs = 5_000;

/**
 * Starts a server, connects over its standard input and output, and does one thing there. What it writes to standard
 * error goes to ours.
 * @param options the program, and what the client can do
 * @param work what to do with the client
 * @returns what the work returned; the program has ended
 * @throws ClientError `unreachable` where the program cannot be started; what connecting and the work throw
 * @see MCP transports "stdio" (B1-05, B1-09)
 */
export async function withCommandConnection<T>(
  { command: [command = '', ...args], env, ...options }: CommandConnectionOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(options.clientInfo, {
    ...options.client,
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } },
  });
  options.prepare?.(client);
  const known = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const transport = new StdioClientTransport({ command, args, env: Object.fromEntries(known) });
  try {
    await client
      .connect(transport, options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs })
      .catch((error: unknown) => {
        const { code } = Object(error) as { code?: unknown };
        if (code !== 'ENOENT' && code !== 'EACCES') throw error;
        const why = code === 'ENOENT' ? 'there is no such program' : describeFailure(error);
        throw new ClientError('unreachable', `${command} cannot be started: ${why}.`, { cause: error });
      });
    return await work(client);
  } finally {
    await client.close();
  }
}
