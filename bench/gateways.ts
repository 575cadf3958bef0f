import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addPeople, tokensOf } from '../test/flows/gateway/support/people.ts';
import { freePort } from '../test/support/free-port.ts';
import { processTree } from './process-tree.ts';
import { headersFor, initializeBody } from './requests.ts';
import { type ServerProcess, startServer, waitUntil } from './server-process.ts';
import { peerProgram, peerToken } from './subjects.ts';

/** A gateway that is measured, ready for people. */
export interface Gateway {
  server: ServerProcess;
  /** Its MCP endpoint. */
  url: string;
  /** Lets so many more people in: gives the token of each, which is an empty text where the gateway knows nobody. */
  admit(count: number): Promise<string[]>;
  /** Ends it with all that it started. */
  stop(): Promise<void>;
}

/** What can be measured; the server itself is no gateway. */
export type GatewayName = 'gatehouse' | 'mcp-proxy' | 'supergateway' | 'mcp-proxy library' | 'server itself';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The server over standard input and output that all gateways put on the network. */
export const stdioEcho: readonly string[] = [process.execPath, peerProgram('stdio-echo')];

const collectable = ['--expose-gc', '--import', here('servers/collect-at-signal.ts')];

function commandOf(name: GatewayName, port: number): string[] {
  switch (name) {
    case 'gatehouse':
      return ['--expose-gc', here('servers/gatehouse.ts')];
    case 'mcp-proxy':
      return [
        ...[...collectable, here('peers/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs')],
        ...['--port', String(port), '--host', '127.0.0.1', '--server', 'stream', '--', ...stdioEcho],
      ];
    case 'supergateway':
      return [
        ...[...collectable, here('peers/node_modules/supergateway/dist/index.js')],
        ...['--port', String(port), '--outputTransport', 'streamableHttp', '--stateful'],
        ...['--logLevel', 'none', '--stdio', stdioEcho.map((part) => `'${part}'`).join(' ')],
      ];
    case 'mcp-proxy library':
      return [peerProgram('mcp-proxy')];
    case 'server itself':
      return [peerProgram('sdk1'), 'open'];
  }
}

/** Ends a server, and what is left of the processes it started. */
async function stopTree(server: ServerProcess): Promise<void> {
  const { pid } = server.child;
  const started = pid === undefined ? [] : processTree(pid).slice(1);
  await server.stop();
  for (const id of started)
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
}

async function answersInitialize(url: string): Promise<boolean> {
  const headers = headersFor('stateless', '');
  const response = await fetch(url, { method: 'POST', headers, body: initializeBody });
  await response.text();
  return response.status === 200;
}

/**
 * Starts a gateway and waits until it answers.
 * @param folder for its data and output
 * @param before how many people there are, and the URL of the server it stands before; without one it starts the server
 *   over standard input and output
 */
export async function startGateway(
  name: GatewayName,
  folder: string,
  { people, upstream }: { people: number; upstream?: string },
): Promise<Gateway> {
  const isOurs = name === 'gatehouse';
  const [port, data] = [await freePort(), await mkdtemp(join(folder, 'data-'))];
  const emails = isOurs ? await addPeople(data, people) : [];
  const [command, ...args] = stdioEcho;
  const backend = upstream === undefined ? { command, args, process: 'shared' } : { url: upstream };
  const env = {
    FOLDER: data,
    BACKEND: JSON.stringify(backend),
    UPSTREAM: upstream ?? '',
    PEER_KEYS: (await peerToken()).keys,
  };
  const server = await startServer(folder, commandOf(name, port), env, port);
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/mcp`;
  try {
    await waitUntil(server, async () =>
      isOurs ? (await fetch(`${origin}/healthz`)).status === 200 : answersInitialize(url),
    );
  } catch (error) {
    await stopTree(server);
    throw error;
  }
  return {
    server,
    url,
    admit: async (count) =>
      isOurs ? tokensOf(origin, emails.splice(0, count)) : Array.from({ length: count }, () => ''),
    stop: () => stopTree(server),
  };
}
