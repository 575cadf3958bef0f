import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { formatJson } from '../output.ts';
import { checkOwnFolder, findControlSockets, newControlSocket } from './socket-path.ts';

/** Requests of an operator to a running server. Each returns the JSON response. */
export interface Controls {
  /** Returns the state of the routes. */
  routes(): unknown;
  /** Reads the config file again. */
  reload(): Promise<unknown> | unknown;
}

/** Routes of the socket, by method and path. */
const ways: Readonly<Record<string, keyof Controls>> = { 'GET /routes': 'routes', 'POST /reload': 'reload' };

/**
 * Listens to the operator on a Unix socket that only the user of the server can open.
 * @param dataFolder of the server
 * @param warn called if the socket cannot be opened; the server runs on
 * @returns ends it
 */
export async function serveControls(
  dataFolder: string,
  controls: Controls,
  warn: (error: Error) => void,
): Promise<() => void> {
  if (process.platform === 'win32') return () => undefined;
  const server = createServer((request, response) => void answer(controls, request, response));
  server.unref();
  try {
    // On PostgreSQL nothing else may have created it.
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
    const { path, folder } = newControlSocket(dataFolder);
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      checkOwnFolder(folder);
    }
    await Promise.all(findControlSockets(dataFolder).map((found) => removeStale(found.path)));
    await listen(server, path);
    return () => {
      rmSync(path, { force: true });
      server.close();
      server.closeAllConnections();
    };
  } catch (error) {
    warn(error as Error);
    return () => undefined;
  }
}

async function answer(controls: Controls, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const way = ways[`${request.method} ${request.url}`];
  const write = (status: number, body: unknown): void => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(formatJson(body));
  };
  if (!way) return write(404, { error: 'not_found' });
  try {
    write(200, await controls[way]());
  } catch (error) {
    write(500, { error: 'failed', message: (error as Error).message });
  }
}

/** Removes the socket of a server that was killed. */
async function removeStale(path: string): Promise<void> {
  const socket = connect(path);
  const code = await new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
  socket.destroy();
  if (code === 'ECONNREFUSED') rmSync(path, { force: true });
}

/** @param path final path of the socket, set once it accepts connections: before, another server would take it for a stale one */
function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Between listening and chmod, others are kept out by the umask.
    const before = process.umask(0o177);
    const draft = path.replace(/\.sock$/, '.new');
    server.listen(draft, () => {
      chmodSync(draft, 0o600);
      renameSync(draft, path);
      resolve();
    });
    process.umask(before);
  });
}
