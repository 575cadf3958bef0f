import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where a program of a run asks for its turn. */
const portVariable = 'GATEHOUSE_SUITE_TURNS_PORT';

/** Lets so many programs of a run work at a time. */
export interface KeyedQueue {
  /** What the programs need in their environment. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Gives out turns: the official suite starts a program for each scenario at once, more than a small machine can run in
 * the time that some scenarios give.
 * @param most how many have their turn at a time
 */
export async function giveTurns(most: number): Promise<KeyedQueue> {
  const waiting: Socket[] = [];
  const working = new Set<Socket>();
  const next = (): void => {
    const socket = working.size < most ? waiting.shift() : undefined;
    if (!socket) return;
    working.add(socket);
    socket.write('go');
    next();
  };
  const server = createServer((socket) => {
    waiting.push(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        working.delete(socket);
        if (waiting.includes(socket)) waiting.splice(waiting.indexOf(socket), 1);
        next();
      });
    socket.resume();
    next();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: { [portVariable]: String((server.address() as AddressInfo).port) },
    async stop() {
      for (const socket of [...waiting, ...working]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Waits for the turn of this program, which ends with the program; at once where nobody gives out turns. */
export async function awaitTurn(): Promise<void> {
  const port = process.env[portVariable];
  if (port === undefined) return;
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'data');
  socket.unref();
}
